"""Acceptance by looks: a fixed batch, a few looks with the same repeats, a stricter p for each.

Each incident is investigated with the brain before and after, repeat by repeat with the same seed.
On the *target* (failing incidents of the cluster) the edit must fix convincingly more pairs than it
breaks; on the *guard* batch (passing incidents and controls) it must break nothing. Where that is
not settled the answer is "indecisive": another look, up to a number of them, then it is rejected.
It costs less than :mod:`heldout.tune.acceptance.evidence` and lets more mild harm through.

With no effect each pair that differs is as likely fixed as broken, whatever the pass rates of the
incidents are, so the test is McNemar's, exact and one-sided. Looking several times would add up
chances, so each look asks for a smaller p: ``ALPHA * looks ** -0.42``. That bound is calibrated by
simulation over pass rates, batch sizes and looks (a Pocock boundary, wider because a candidate
without a lead is dropped at every look); a test counts false accepts against ``ALPHA``.
"""

from __future__ import annotations

from dataclasses import dataclass

from heldout.tune.acceptance.counts import Decision, Pairs, counted, effect, one_sided
from heldout.tune.acceptance.rule import Batch, Purchase

ALPHA = 0.05
"""How often an edit without effect may be taken for a fix, over all looks at the target."""
HARM_ALPHA = 0.05
"""Below this the guard batch shows harm, and the edit is rejected at once."""
WOBBLE = 0.08
"""Net share of broken pairs on the guard batch that passes for noise of single repeats."""


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
        return Decision("reject", counted("no effect on the targeted failures", seen), p)
    better = sum(_gain(repeats) > 0 for repeats in target.values())
    if p <= bound(looks) and better >= (2 if len(target) >= 4 else 1):
        return Decision("accept", counted("it fixed targeted failures", seen), p)
    if look < looks:
        return Decision("indecisive", counted("more repeats are needed", seen), p)
    return Decision("reject", counted(f"indecisive after {looks} looks", seen), p)


def judge_guard(guard: Pairs, *, look: int, looks: int) -> Decision:
    """The ruling on what passed before, after look ``look`` (from 1), over all pairs so far.

    Accept: no incident is broken, and no more pairs are broken than fixed but for ``WOBBLE`` of
    them, or one. Reject: broken pairs outnumber fixed ones beyond chance, or it is still not clean
    at the last look. ``p`` is that of harm.
    """
    seen = effect(guard)
    p = one_sided(seen.broken, seen.fixed)
    if p <= HARM_ALPHA:
        return Decision("reject", counted("it broke passing incidents", seen), p)
    spare = max(1, round(WOBBLE * seen.pairs))
    if not seen.broken_incidents and seen.broken <= seen.fixed + spare:
        return Decision("accept", counted("passing incidents still pass", seen), p)
    if look < looks:
        return Decision("indecisive", counted("harm is not ruled out yet", seen), p)
    return Decision("reject", counted("harm is not ruled out", seen), p)


@dataclass(frozen=True, slots=True)
class LooksTarget:
    """:func:`judge_target` on the first ``batch`` incidents, up to ``looks`` times."""

    batch: int
    repeats: int
    looks: int

    def buy(self, batch: Batch) -> Purchase | None:
        """The same incidents again."""
        return _same(batch, self.batch, self.repeats, self.looks)

    def judge(self, batch: Batch) -> Decision:
        """The ruling after the newest look."""
        return judge_target(batch.seen, look=len(batch.looks), looks=self.looks)


@dataclass(frozen=True, slots=True)
class LooksGuard:
    """:func:`judge_guard` on the first ``batch`` incidents, up to ``looks`` times."""

    batch: int
    repeats: int
    looks: int

    def buy(self, batch: Batch) -> Purchase | None:
        """The same incidents again."""
        return _same(batch, self.batch, self.repeats, self.looks)

    def judge(self, batch: Batch) -> Decision:
        """The ruling after the newest look."""
        return judge_guard(batch.seen, look=len(batch.looks), looks=self.looks)


def _same(batch: Batch, size: int, repeats: int, looks: int) -> Purchase | None:
    return Purchase(batch.incidents[:size], repeats) if len(batch.looks) < looks else None


def _gain(repeats: tuple[tuple[bool, bool], ...]) -> int:
    return sum(after - before for before, after in repeats)
