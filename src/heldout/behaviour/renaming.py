"""Rename invariance: does an effect survive other names, values, dates and another topology?

A train incident is rendered again with the same fault, traps and knobs. What a brain knows of
method helps there as well; what it knows of the incident does not.

The incidents rendered again were chosen because the edit fixed them, and a renamed one is a fresh
draw that may pass anyway. So both gains are taken over what *fails without* the edit: the share of
those incidents that passes with it. That share is the same for both where the effect is method,
whatever was chosen; the plain difference of pass rates would not be (regression to the mean).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from heldout.stats import Interval, clopper_pearson, mover_difference

KEPT = 0.8
"""The share of the original gain that must be left on renamed incidents."""
LEAST = 3
"""Renamed incidents that must fail without the edit before its effect on them is called kept."""
LEVEL = 0.90
"""Level of the two-sided interval: its upper end is a one-sided 95 % bound."""

Verdict = Literal["kept", "undecided", "lost"]


class Counts(NamedTuple):
    """Incidents that fail without an edit, and how many of them pass with it."""

    fixed: int
    failing: int


@dataclass(frozen=True, slots=True)
class Survival:
    """The gain on originals and on renamed incidents, and whether enough of it is left.

    ``low`` and ``high`` bound ``gain(renamed) - 0.8 * gain(original)``, 90 % two-sided.
    """

    verdict: Verdict
    original: Counts
    renamed: Counts
    low: float
    high: float
    incidents: int
    why: str = ""

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return {**asdict(self), "original": list(self.original), "renamed": list(self.renamed)}

    def sentence(self) -> str:
        """One line for people."""
        return survival_sentence(self.plain())


def survival_sentence(plain: Mapping[str, Any]) -> str:
    """The result in one line, from its plain data."""
    said = {
        "kept": "effect kept",
        "undecided": "undecided",
        "lost": "EFFECT LOST under other names and values",
    }[str(plain["verdict"])]
    (fixed, failing), (again, failing_again) = plain["original"], plain["renamed"]
    why = f"; {plain['why']}" if plain.get("why") else ""
    return (
        f"renamed: {said} (fixes {again} of {failing_again} that fail without it, originals "
        f"{fixed} of {failing}; gain left over 0.8 of the original's: "
        f"{plain['low']:+.2f} to {plain['high']:+.2f}{why})"
    )


def invariance(original: Counts, renamed: Counts, incidents: int) -> Survival:
    """Hold ``gain(renamed) >= 0.8 * gain(original)`` against the counts.

    "lost": even the upper bound of the difference is below zero. "kept": the difference is not
    negative and at least ``LEAST`` renamed incidents fail without the edit. Else undecided. Exact
    intervals of both shares (Clopper-Pearson), joined by :func:`heldout.stats.mover_difference`.
    """
    if not original.fixed or not renamed.failing:
        why = "none of the renamed incidents fails without it"
        if not original.fixed:
            why = "it fixes none of the originals"
        return Survival("undecided", original, renamed, -KEPT, 1.0, incidents, why)
    one: Interval = clopper_pearson(renamed.fixed, renamed.failing, LEVEL)
    gap = mover_difference(one, clopper_pearson(original.fixed, original.failing, LEVEL), KEPT)
    verdict: Verdict = "undecided"
    if gap.high < 0:
        verdict = "lost"
    elif gap.value > -1e-9 and renamed.failing >= LEAST:
        verdict = "kept"
    why = "too few" if verdict == "undecided" and renamed.failing < LEAST else ""
    return Survival(verdict, original, renamed, gap.low, gap.high, incidents, why)


Repeats = Mapping[str, Sequence[tuple[bool, bool]]]
"""By incident: (passed without, passed with) of each repeat in which both were valid."""


def counted(pairs: Repeats) -> Counts:
    """Majorities: what fails without the edit, and which of it passes with it; ties are fails."""
    failing = [one for one in pairs.values() if one and not _most(before for before, _ in one)]
    return Counts(sum(_most(after for _, after in one) for one in failing), len(failing))


def _most(passed: Iterable[bool]) -> bool:
    listed = list(passed)
    return 2 * sum(listed) > len(listed)
