"""A model's course over all its jobs: looks, segments, what the brain came to say, what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.drift import Canary, canaries
from heldout.report.over_time.lineage import BrainChange, brain_change
from heldout.report.over_time.looks import Look, looks_at
from heldout.report.over_time.segments import Segments, segments_of
from heldout.report.over_time.spent import Spent, spent_on
from heldout.score import Score
from heldout.settings import Settings
from heldout.store import Ledger


@dataclass(frozen=True, slots=True)
class OverTime:
    """What a ledger says of one model beyond a single job or score."""

    model: str
    looks: tuple[Look, ...]
    """Oldest first, unfinished ones among them."""
    spent: tuple[Spent, ...]
    """By what it was for, the sum last; empty where nothing was played."""
    canaries: tuple[Canary, ...] = ()
    """Newest first: what moved while the brain did not."""
    segments: Segments | None = None
    """Of the score that the report is about."""
    brain: BrainChange | None = None


def over_time(ledger: Ledger, settings: Settings, model: str, score: Score | None) -> OverTime:
    """Gather everything for one model; ``score`` is the one that the report is about."""
    return OverTime(
        model=model,
        looks=looks_at(ledger, model),
        spent=spent_on(ledger, model),
        canaries=tuple(canaries(ledger, model=model)),
        segments=segments_of(settings, score) if score is not None else None,
        brain=brain_change(ledger, settings),
    )


__all__ = [
    "BrainChange",
    "Look",
    "OverTime",
    "Segments",
    "Spent",
    "over_time",
]
