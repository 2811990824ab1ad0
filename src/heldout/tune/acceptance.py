"""Whether an edit is accepted: paired, sequential, and aware of noise.

Each incident is investigated with the brain before and after, repeat by repeat with the same seed.
On the *target* (failing incidents of the cluster) the edit must fix convincingly more pairs than it
breaks; on the *guard* batch (passing incidents and controls) it must break nothing. Where that is
not settled the answer is "indecisive": more repeats are bought, up to a cap, then it is rejected.

With no effect each pair that differs is as likely fixed as broken, whatever the pass rates of the
incidents are, so the test is McNemar's, exact and one-sided. Looking several times would add up
chances, so each look asks for a smaller p: ``ALPHA * looks ** -0.42``. That bound is calibrated by
simulation over pass rates, batch sizes and looks (a Pocock boundary, wider because a candidate
without a lead is dropped at every look); a test counts false accepts against ``ALPHA``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from heldout.stats import mcnemar_exact

ALPHA = 0.05
"""How often an edit without effect may be taken for a fix, over all looks at the target."""
HARM_ALPHA = 0.05
"""Below this the guard batch shows harm, and the edit is rejected at once."""
WOBBLE = 0.08
"""Net share of broken pairs on the guard batch that passes for noise of single repeats."""

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


def bound(looks: int) -> float:
    """The p that a look must reach, of so many looks; together they err in ``ALPHA`` of cases."""
    return float(ALPHA * looks**-0.42)


def judge_target(target: Pairs, *, look: int, looks: int) -> Decision:
    """The ruling on the targeted failures after look ``look`` (from 1), over all pairs so far.

    Accept: p is at most :func:`bound` and at least two incidents are better (one, where fewer than
    four are targeted). Reject: no lead of fixed over broken pairs, or indecisive at the last look.
    """
    seen = effect(target)
    p = one_sided(seen.fixed, seen.broken)
    if not seen.pairs:
        return Decision("reject", "no valid pair of investigations on the targeted failures", 1.0)
    if seen.fixed <= seen.broken:
        return Decision("reject", _counts("no effect on the targeted failures", seen), p)
    better = sum(_gain(repeats) > 0 for repeats in target.values())
    if p <= bound(looks) and better >= (2 if len(target) >= 4 else 1):
        return Decision("accept", _counts("it fixed targeted failures", seen), p)
    if look < looks:
        return Decision("indecisive", _counts("more repeats are needed", seen), p)
    return Decision("reject", _counts(f"indecisive after {looks} looks", seen), p)


def judge_guard(guard: Pairs, *, look: int, looks: int) -> Decision:
    """The ruling on what passed before, after look ``look`` (from 1), over all pairs so far.

    Accept: no incident is broken, and no more pairs are broken than fixed but for ``WOBBLE`` of
    them, or one. Reject: broken pairs outnumber fixed ones beyond chance, or it is still not clean
    at the last look. ``p`` is that of harm.
    """
    seen = effect(guard)
    p = one_sided(seen.broken, seen.fixed)
    if p <= HARM_ALPHA:
        return Decision("reject", _counts("it broke passing incidents", seen), p)
    spare = max(1, round(WOBBLE * seen.pairs))
    if not seen.broken_incidents and seen.broken <= seen.fixed + spare:
        return Decision("accept", _counts("passing incidents still pass", seen), p)
    if look < looks:
        return Decision("indecisive", _counts("harm is not ruled out yet", seen), p)
    return Decision("reject", _counts("harm is not ruled out", seen), p)


def _gain(repeats: tuple[tuple[bool, bool], ...]) -> int:
    return sum(after - before for before, after in repeats)


def _counts(what: str, seen: Effect) -> str:
    return (
        f"{what}: {seen.fixed} fixed and {seen.broken} broken of {seen.pairs} pairs"
        f" on {seen.incidents} incidents"
    )
