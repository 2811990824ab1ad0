"""Comparing two runs that the ledger keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from heldout.compare.pairs import Comparison, Played, compare_runs
from heldout.errors import UsageError
from heldout.store import Ledger, queries
from heldout.store.queries import RunRow


class Attempted(Played, Protocol):
    """One attempt at one slot."""

    @property
    def arm(self) -> str:
        """Which arm it belongs to."""
        ...

    @property
    def repeat(self) -> int:
        """Which repeat of the incident."""
        ...

    @property
    def attempt(self) -> int:
        """Which try at that repeat."""
        ...


One = TypeVar("One", bound=Attempted)
Loader = Callable[[Ledger, str], Sequence[Attempted]]
"""Reads every attempt of a run from the ledger; :func:`heldout.run.history.outcomes` does."""


def final_outcomes(outcomes: Iterable[One]) -> dict[str, list[One]]:
    """One outcome per slot, by arm: the first valid attempt, or the last invalid one."""
    slots: dict[tuple[str, str, int], One] = {}
    for one in sorted(outcomes, key=lambda o: (o.arm, o.incident, o.repeat, o.attempt)):
        slot = (one.arm, one.incident, one.repeat)
        held = slots.get(slot)
        if held is None or held.verdict.result == "invalid":
            slots[slot] = one
    arms: dict[str, list[One]] = {}
    for (arm, _, _), one in slots.items():
        arms.setdefault(arm, []).append(one)
    return arms


def compare_stored(ledger: Ledger, first: str, second: str, load: Loader) -> Comparison:
    """Compare two runs, each named ``RUN`` or ``RUN:ARM`` (a beginning of the id is enough).

    Incidents that only one of them played are unpaired, by name. The same incident with another
    world, or a run with several arms and none named, is a :class:`UsageError`.
    """
    (row_a, arm_a), (row_b, arm_b) = named_arm(ledger, first), named_arm(ledger, second)
    worlds_a, worlds_b = worlds_of(row_a), worlds_of(row_b)
    for name in sorted(worlds_a.keys() & worlds_b.keys()):
        if worlds_a[name] != worlds_b[name]:
            raise UsageError(
                f"incident '{name}' has another world in each run",
                mend="Compare runs of the same frozen set",
            )
    if not worlds_a.keys() & worlds_b.keys():
        raise UsageError(
            "the two runs share no incident", mend="Compare runs of the same set and side"
        )
    return compare_runs(
        final_outcomes(load(ledger, row_a.run)).get(arm_a, []),
        final_outcomes(load(ledger, row_b.run)).get(arm_b, []),
        sorted(worlds_a.keys() | worlds_b.keys()),
        int(row_a.manifest["repeats"]),
        repeats_after=int(row_b.manifest["repeats"]),
        names=(_label(row_a, arm_a), _label(row_b, arm_b)),
        across_models=row_a.model != row_b.model,
    )


def named_arm(ledger: Ledger, text: str) -> tuple[RunRow, str]:
    """The run and arm that ``RUN`` or ``RUN:ARM`` names; a run of one arm needs none named."""
    name, _, arm = text.partition(":")
    row = queries.run(ledger, name)
    arms = [str(one["name"]) for one in row.manifest["arms"]]
    if arm and arm not in arms:
        raise UsageError(f"run {row.run} has no arm '{arm}'", mend=f"It has: {', '.join(arms)}")
    if not arm and len(arms) > 1:
        raise UsageError(
            f"run {row.run} has several arms",
            mend=f"Name one: {', '.join(f'{row.run}:{one}' for one in arms)}",
        )
    return row, arm or arms[0]


def _label(row: RunRow, arm: str) -> str:
    return f"{row.run[:8]}:{arm}"


def worlds_of(row: RunRow) -> dict[str, str]:
    """The digest of each incident's world."""
    cases = row.manifest["cases"]
    return {str(case["incident"]): str(case["world"]) for case in cases}
