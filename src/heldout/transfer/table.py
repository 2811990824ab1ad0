"""The table of brains by models, as it is kept in the ledger and read by people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from heldout.errors import StoreError

Half = Literal["test", "train"]
Word = Literal["", "gain", "mechanism shown", "no gain shown", "harm", "indecisive"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One brain with one model, on trap incidents but for what says controls.

    ``owner`` is the model that the brain was tuned for, empty for the shared one. ``fixed``,
    ``broken``, ``p`` and ``word`` hold it against the shared brain with the same model, and are
    empty or ``None`` for that one itself. ``p_adjusted`` is Bonferroni over looks and over all
    tuned cells of the table. ``brain`` is the hash of what was read.
    """

    owner: str
    model: str
    brain: str
    traps: int
    solved: tuple[str, ...]
    unpaired: tuple[str, ...]
    controls: int
    controls_solved: int
    coverage: float
    tokens: int
    usd: float | None
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    p: float | None = None
    p_adjusted: float | None = None
    word: Word = ""
    controls_fixed: int = 0
    controls_broken: int = 0

    @property
    def own(self) -> bool:
        """True where a model reads what was tuned for it."""
        return self.owner == self.model


@dataclass(frozen=True, slots=True)
class Column:
    """One model's job: its cells, and what it cost.

    ``evidence`` is the sentence on the class of evidence. ``score`` and ``look`` are those of the
    held-out half; on train there is no score and the look is 0.
    """

    model: str
    evidence: str
    simulated: bool
    cells: tuple[Cell, ...]
    runs: tuple[str, ...]
    seconds: float
    usd: float | None
    score: str = ""
    look: int = 0
    look_budget: int = 0
    detectable: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Every brain with every model. ``brain`` is the hash of the brain in use that it is about."""

    transfer: str
    half: Half
    set: str
    brain: str
    repeats: int
    owners: tuple[str, ...]
    columns: tuple[Column, ...]
    at: int

    def cell(self, owner: str, model: str) -> Cell:
        """One cell; an unknown one is a KeyError."""
        found = {(one.owner, one.model): one for column in self.columns for one in column.cells}
        return found[owner, model]

    @property
    def models(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(column.model for column in self.columns)

    @property
    def usd(self) -> float | None:
        """What all of it cost; ``None`` when a price is unknown."""
        prices = [column.usd for column in self.columns]
        return None if None in prices else sum(price or 0.0 for price in prices)

    def incidents(self) -> tuple[str, ...]:
        """Every trap incident that is solved or unpaired in some cell, by id."""
        cells = [cell for column in self.columns for cell in column.cells]
        return tuple(sorted({name for one in cells for name in (*one.solved, *one.unpaired)}))

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger and for ``--json``; with what carries over beside it."""
        data = dict(_adapter().dump_python(self, mode="json"))
        data["carried"] = [
            TypeAdapter(Carried).dump_python(one, mode="json") for one in carried(self)
        ]
        return data


@dataclass(frozen=True, slots=True)
class Carried:
    """What became, with another model, of the incidents that a brain fixed with its own.

    ``fixed``: fixed there too. ``solved_before``: that model solves them with the shared brain.
    ``not_fixed``: still unsolved. ``broken``: solved with the shared brain and no longer.
    ``beyond``: fixed with the other model only.
    """

    owner: str
    model: str
    fixed: tuple[str, ...]
    solved_before: tuple[str, ...]
    not_fixed: tuple[str, ...]
    broken: tuple[str, ...]
    unpaired: tuple[str, ...]
    beyond: tuple[str, ...]

    @property
    def gained(self) -> int:
        """How many the brain fixed with its own model."""
        groups = self.fixed, self.solved_before, self.not_fixed, self.broken, self.unpaired
        return sum(len(names) for names in groups)


def carried(table: Table) -> tuple[Carried, ...]:
    """Each tuned brain that its own model played, with each other model: incident by incident."""
    return tuple(
        _carried(table, owner, model)
        for owner in table.owners
        if owner in table.models
        for model in table.models
        if model != owner
    )


def _carried(table: Table, owner: str, model: str) -> Carried:
    there = table.cell(owner, model)
    before = set(table.cell("", model).solved)
    gained = table.cell(owner, owner).fixed
    groups: dict[str, list[str]] = {name: [] for name in ("fixed", "kept", "not", "broken", "open")}
    for name in gained:
        if name in there.unpaired:
            place = "open"
        elif name in there.broken:
            place = "broken"
        elif name in there.fixed:
            place = "fixed"
        else:
            place = "kept" if name in before else "not"
        groups[place].append(name)
    return Carried(
        owner=owner,
        model=model,
        fixed=tuple(groups["fixed"]),
        solved_before=tuple(groups["kept"]),
        not_fixed=tuple(groups["not"]),
        broken=tuple(groups["broken"]),
        unpaired=tuple(groups["open"]),
        beyond=tuple(name for name in there.fixed if name not in gained),
    )


@cache
def _adapter() -> TypeAdapter[Table]:
    return TypeAdapter(Table)


def read_table(plain: Mapping[str, Any] | str, *, where: str = "ledger") -> Table:
    """A table from the ledger's ``result_json``; one that does not fit is a StoreError."""
    try:
        data = json.loads(plain) if isinstance(plain, str) else dict(plain)
        data.pop("carried", None)
        return _adapter().validate_python(data)
    except (ValidationError, ValueError, TypeError) as error:
        raise StoreError(
            f"a stored table cannot be read ({type(error).__name__})",
            where=where,
            mend="It was written by another version; play it again",
        ) from error
