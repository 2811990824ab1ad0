"""Whether an edit is accepted: paired, sequential, and aware of noise.

Each incident is investigated with the brain before and after, repeat by repeat with the same seed.
On the *target* (failing incidents of the cluster) the edit must fix convincingly more pairs than it
breaks; on the *regression* batch (passing incidents and controls) it must break nothing. Where
neither is settled the answer is "indecisive": more repeats are bought, up to a cap, then it is
rejected. An edit without effect is accepted with a probability of at most ``ALPHA`` on the target,
over all looks together, whatever the pass rates of the incidents are: with no effect each pair that
differs is as likely fixed as broken (exact McNemar), and the looks share ``ALPHA`` equally.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from heldout.stats import mcnemar_exact

ALPHA = 0.05
"""Chance that an edit without effect is taken for a fix, over all looks at the target."""
HARM_ALPHA = 0.05
"""Below this the regression batch shows harm, and the edit is rejected at once."""
WOBBLE = 0.08
"""Net share of broken pairs on the regression batch that passes for noise of single repeats."""

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
    """A ruling with its reason in one sentence, and the one-sided p of the target."""

    ruling: Ruling
    reason: str
    p: float


def effect(pairs: Pairs) -> Effect:
    """Count pairs and incidents. An incident is solved when most of its repeats passed."""
    fixed = broken = fixed_incidents = broken_incidents = total = 0
    for repeats in pairs.values():
        total += len(repeats)
        fixed += sum(after and not before for before, after in repeats)
        broken += sum(before and not after for before, after in repeats)
        was = 2 * sum(before for before, _ in repeats) > len(repeats)
        now = 2 * sum(after for _, after in repeats) > len(repeats)
        fixed_incidents += now and not was
        broken_incidents += was and not now
    return Effect(total, fixed, broken, len(pairs), fixed_incidents, broken_incidents)


def merge(batches: Iterable[Pairs]) -> Pairs:
    """The pairs of several looks together."""
    merged: dict[str, tuple[tuple[bool, bool], ...]] = {}
    for batch in batches:
        for incident, repeats in batch.items():
            merged[incident] = (*merged.get(incident, ()), *repeats)
    return merged


def one_sided(more: int, less: int) -> float:
    """p that ``more`` exceeds ``less`` by chance alone (exact, one-sided)."""
    return mcnemar_exact(more, less) / 2 if more > less else 1.0


def decide(target: Pairs, regression: Pairs, *, look: int, looks: int) -> Decision:
    """The ruling after look ``look`` (from 1) of at most ``looks``, over all pairs so far.

    Accept: the target's p is at most ``ALPHA / looks``, at least two incidents are better (one,
    where fewer than four are targeted), and on the regression batch no incident is broken and no
    more pairs are broken than fixed, but for ``WOBBLE`` of them, or one. Reject: harm on either
    batch, no sign of a fix, or still indecisive at the last look.
    """
    on_target, elsewhere = effect(target), effect(regression)
    p = one_sided(on_target.fixed, on_target.broken)
    harm = one_sided(elsewhere.broken, elsewhere.fixed)
    last = look >= looks
    if not on_target.pairs:
        return Decision("reject", "no valid pair of investigations on the targeted failures", 1.0)
    if harm <= HARM_ALPHA:
        return Decision("reject", _counts("it broke passing incidents", elsewhere), p)
    if on_target.fixed <= on_target.broken:
        return Decision("reject", _counts("no effect on the targeted failures", on_target), p)
    clean = not elsewhere.broken_incidents and elsewhere.broken <= elsewhere.fixed + max(
        1, round(WOBBLE * elsewhere.pairs)
    )
    better = sum(_gain(repeats) > 0 for repeats in target.values())
    convincing = p <= ALPHA / looks and better >= (2 if len(target) >= 4 else 1)
    if convincing and clean:
        return Decision("accept", _counts("it fixed targeted failures", on_target), p)
    if not last:
        return Decision("indecisive", _counts("more repeats are needed", on_target), p)
    if not clean:
        return Decision("reject", _counts("harm is not ruled out", elsewhere), p)
    return Decision("reject", _counts(f"indecisive after {looks} looks", on_target), p)


def _gain(repeats: tuple[tuple[bool, bool], ...]) -> int:
    return sum(after - before for before, after in repeats)


def _counts(what: str, seen: Effect) -> str:
    return (
        f"{what}: {seen.fixed} fixed and {seen.broken} broken of {seen.pairs} pairs"
        f" on {seen.incidents} incidents"
    )
