"""What was seen on a batch, counted by pair and by incident, and what was ruled on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from heldout.stats import mcnemar_exact

Ruling = Literal["accept", "reject", "indecisive"]
Pairs = Mapping[str, tuple[tuple[bool, bool], ...]]
"""By incident: (passed before, passed after) of each repeat in which both were valid."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What an edit did on one batch: pairs and incidents that it fixed and broke."""

    pairs: int
    fixed: int
    broken: int
    incidents: int
    fixed_incidents: int
    broken_incidents: int

    @property
    def net(self) -> float:
        """Fixed minus broken pairs, as a share of all pairs."""
        return (self.fixed - self.broken) / self.pairs if self.pairs else 0.0

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Decision:
    """A ruling with its reason in one sentence, and the one-sided p behind it."""

    ruling: Ruling
    reason: str
    p: float


def flips(repeats: tuple[tuple[bool, bool], ...]) -> tuple[int, int]:
    """Fixed and broken pairs of one incident."""
    return repeats.count((False, True)), repeats.count((True, False))


def effect(pairs: Pairs) -> Effect:
    """Count pairs and incidents. An incident is solved when most of its repeats passed."""
    fixed = broken = fixed_incidents = broken_incidents = total = 0
    for repeats in pairs.values():
        total += len(repeats)
        mended, damaged = flips(repeats)
        fixed, broken = fixed + mended, broken + damaged
        both = repeats.count((True, True))
        was = 2 * (both + damaged) > len(repeats)
        now = 2 * (both + mended) > len(repeats)
        fixed_incidents += now and not was
        broken_incidents += was and not now
    return Effect(total, fixed, broken, len(pairs), fixed_incidents, broken_incidents)


def merge(batches: Iterable[Pairs]) -> Pairs:
    """The pairs of several looks together."""
    merged: dict[str, tuple[tuple[bool, bool], ...]] = {}
    for batch in batches:
        if not merged:
            merged = dict(batch)
            continue
        for incident, repeats in batch.items():
            merged[incident] = (*merged.get(incident, ()), *repeats)
    return merged


def one_sided(more: int, less: int) -> float:
    """p that ``more`` exceeds ``less`` by chance alone (exact, one-sided)."""
    return mcnemar_exact(more, less) / 2 if more > less else 1.0


def counted(what: str, seen: Effect) -> str:
    """A reason with the counts behind it."""
    return (
        f"{what}: {seen.fixed} fixed and {seen.broken} broken of {seen.pairs} pairs"
        f" on {seen.incidents} incidents"
    )
