"""The sheet of a run that is cut into shards: all that a worker without the ledger is told.

A worker does not trust it. It takes the incidents from its own project and compares their digests,
asks no endpoint and starts no program that its own project does not name, and works out the run's
id from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout import __version__
from heldout.errors import ConfigError, UsageError
from heldout.interface import Interface
from heldout.run.caps import Caps
from heldout.run.manifest import plan_of, require_unchanged
from heldout.run.plan import Plan
from heldout.run.slots import Slot
from heldout.run.standing import Past, SlotKey
from heldout.settings import Settings
from heldout.split import Case
from heldout.store.texts import brain_from_plain

_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$")]


class Shard(NamedTuple):
    """One part of a run, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``2/4``; anything else is a :class:`UsageError`."""
        match = _SHARD.fullmatch(text)
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise UsageError(f"'{text}' is no shard", mend="Write it like 2/4: the second of four")
        return shard

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def deal(pending: Sequence[Slot], shards: int) -> list[list[Slot]]:
    """Cut slots into up to ``shards`` parts of about one size, each a piece of the order of play.

    The arms of one repeat stay together, so that a slow worker meets them all; a piece of the
    order holds whole incidents but for its ends, so that few worlds are loaded by two workers.
    """
    pairs = [list(arms) for _, arms in groupby(pending, key=lambda one: (one.key[0], one.repeat))]
    count = min(shards, len(pairs))
    ends = [len(pairs) * number // count for number in range(count + 1)] if count else []
    return [[slot for pair in pairs[first:last] for slot in pair] for first, last in pairwise(ends)]


class Sheet(BaseModel):
    """What is to be played, by whom, and what was played before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    heldout: str = __version__
    run: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    edition: Hex
    """Differs each time that a run is cut."""
    began_with: int
    """Repeats that the run had when it began: its id is made from them."""
    manifest: dict[str, Any]
    brains: tuple[dict[str, Any], ...]
    shards: tuple[tuple[SlotKey, ...], ...]
    past: tuple[tuple[SlotKey, int, str, str], ...] = ()
    """Earlier attempts at these slots: slot, number, result, reason."""
    max_usd: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    """What one shard may spend."""

    @property
    def concurrency(self) -> int:
        """Investigations at once in one shard: the run's, shared out, and at least one."""
        return max(1, -(-int(self.manifest["concurrency"]) // max(1, len(self.shards))))

    @property
    def caps(self) -> Caps:
        """What one shard may spend."""
        return Caps(self.max_usd, self.max_tokens, self.max_seconds)

    @property
    def tools(self) -> str:
        """The packs of tools that the run is played with."""
        terms = self.manifest.get("terms")
        return str(terms.get("tools", "native")) if isinstance(terms, dict) else "native"

    def keys(self, shard: Shard) -> frozenset[SlotKey]:
        """The slots of one shard; one that the run was not cut into is a :class:`UsageError`."""
        if shard.of != len(self.shards):
            raise UsageError(
                f"the run was cut into {len(self.shards)} shards, not {shard.of}",
                where=f"run {self.run}",
                mend=f"Take 1/{len(self.shards)} to {len(self.shards)}/{len(self.shards)}",
            )
        return frozenset(self.shards[shard.number - 1])

    def earlier(self) -> list[Past]:
        """The attempts that there were before it was cut."""
        return [Past(*one) for one in self.past]


def read_sheet(text: str | bytes, where: str) -> Sheet:
    """Read a sheet; a damaged one, or one of another release, is a :class:`ConfigError`."""
    try:
        sheet = Sheet.model_validate_json(text)
    except ValidationError as error:
        raise ConfigError(
            f"the sheet of the run cannot be read ({error.errors()[0]['msg']})",
            where=where,
            mend="Resume the run on the machine of its ledger, and cut it anew",
        ) from error
    if sheet.heldout != __version__:
        raise ConfigError(
            f"the run was cut by heldout {sheet.heldout}, and this is {__version__}",
            where=where,
            mend="Use one release on every machine",
        )
    return sheet


@dataclass(frozen=True, slots=True)
class Allowed:
    """Where a worker may send its keys and what it may start, beside what its project names."""

    base_url: str = ""
    agent_command: str = ""


def plan_of_sheet(
    sheet: Sheet,
    cases_of: Callable[[str], Sequence[Case]],
    settings: Settings,
    interface: Interface,
    allowed: Allowed,
) -> Plan:
    """The plan of a sheet, with the incidents of this project's set.

    What differs here, be it an incident, the settings, the tools, the judge or the program, is a
    :class:`ConfigError`, and so is an endpoint or a program that this project does not name.
    """
    said = sheet.manifest
    try:
        named = [(one["incident"], one["world"], one["truth"]) for one in said["cases"]]
        brains = {one.hash: one for one in map(brain_from_plain, sheet.brains)}
        terms = said["terms"]
        _require_allowed(sheet, said["base_url"], terms, settings, allowed)
        require_unchanged(sheet.run, said, settings, interface)
        if said["pins"]["settings"] != settings.digest():
            raise _differs(sheet, "heldout.toml says something else", "Copy it from there")
        cases = _own_cases(sheet, named, cases_of(said["set"]))
        plan = plan_of(said, cases, brains.__getitem__)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _forged(sheet) from error
    began = replace(plan, repeats=sheet.began_with)
    if plan.manifest() != said or began.key() != sheet.run or plan.purpose != "train" or plan.job:
        raise _forged(sheet)
    return plan


def _require_allowed(
    sheet: Sheet, base_url: str, terms: dict[str, Any], settings: Settings, allowed: Allowed
) -> None:
    models, judge, agent = settings.models, settings.judge, settings.agent
    for option, asked, known in (
        ("--base-url", base_url, {models.base_url, allowed.base_url}),
        ("--agent-command", terms["agent_command"], {agent.command, allowed.agent_command}),
        ("[judge] base_url", terms["judge_base_url"], {judge.base_url}),
    ):
        if asked not in known:
            raise _differs(
                sheet,
                f"it was begun with {option} '{str(asked)[:200]}', which this project does not "
                "name",
                f"Give the same {option} here if you trust it",
            )


def _own_cases(
    sheet: Sheet, named: list[tuple[str, str, str]], own: Sequence[Case]
) -> tuple[Case, ...]:
    """This project's cases of the sheet's incidents, in the sheet's order."""
    by_id = {case.incident.id: case for case in own}
    for incident, world, truth in named:
        case = by_id.get(incident)
        if case is None:
            raise _differs(sheet, f"incident '{str(incident)[:80]}' is not in this project", _COPY)
        if (case.incident.digest, case.truth_digest) != (world, truth):
            raise _differs(sheet, f"incident '{incident}' differs in this project", _COPY)
    return tuple(by_id[incident] for incident, _, _ in named)


_COPY = "Use the same datasets/ on every machine"


def _differs(sheet: Sheet, what: str, mend: str) -> ConfigError:
    return ConfigError(what, where=f"run {sheet.run}", mend=mend)


def _forged(sheet: Sheet) -> ConfigError:
    return ConfigError(
        "the sheet does not describe the run that it names",
        where=f"run {sheet.run}",
        mend="Resume the run on the machine of its ledger, and cut it anew",
    )
