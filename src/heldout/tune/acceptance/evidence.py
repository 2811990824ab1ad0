"""Acceptance by evidence: pairs are bought until they decide, up to a cap.

*Target.* E-values over the incidents (:func:`heldout.stats.clustered_sign_evidence`): an edit
without effect reaches ``1 / ALPHA`` in at most ``ALPHA`` of cases over all its looks, whatever the
pass rates are and however repeats agree. First every incident is played once; then an edit without
a lead once more; one with a lead on the better half, where its effect shows most. What cannot reach
the bound any more is dropped: the evidence must stay above a line that rises to the bound as the
cap is spent, and the effect must not be shown to be too small to matter.

*Guard.* An edit is harmless when the pass rate of what passed before falls by less than ``MARGIN``
(:func:`heldout.stats.harmless_evidence`, incidents in turn): one that costs ``MARGIN`` or more is
taken for harmless in at most ``HARM_ALPHA`` of cases. The first look plays as many pairs as show it
when none differs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from heldout.stats import (
    clean_pairs,
    clustered_sign_evidence,
    harmless_evidence,
    sign_evidence,
)
from heldout.tune.acceptance.counts import Decision, counted, effect, flips
from heldout.tune.acceptance.rule import Batch, Purchase

ALPHA = 0.05
"""How often an edit without effect may be taken for a fix, over all looks at the target."""
HARM_ALPHA = 0.10
"""How often an edit that costs ``MARGIN`` may be taken for harmless, over all looks."""
MARGIN = 0.15
"""The fall of the pass rate on what passed before that is too much, as a fraction."""
BREAKS_ALPHA = 0.05
"""How often an edit that breaks as many as it fixes may be called harmful, over all looks."""
PASSES = 2
"""How often every targeted incident is played before an edit without a lead is dropped."""
HOPELESS = 0.2
"""Evidence of a fix below which an edit is dropped."""
WORTHWHILE = 0.2
"""Net share of fixed pairs on what is played below which a fix is not worth more repeats."""
TOO_LITTLE = 4.0
"""Evidence that the effect is below ``WORTHWHILE`` at which an edit is dropped."""
HOPELESS_GUARD = 0.05
"""Evidence of harmlessness below which an edit is dropped."""
WIDE = 6
"""With so many incidents targeted, one that is better is not enough."""


@dataclass(frozen=True, slots=True)
class EvidenceTarget:
    """Whether an edit fixes what it is for.

    ``batch``: incidents of one look, and half of those used in all; ``repeats``: of a look at a
    lead; ``most``: investigations in all.
    """

    batch: int
    repeats: int
    most: int

    def buy(self, batch: Batch) -> Purchase | None:
        """Unseen incidents first, then all in turn, and where there is a lead the better half."""
        bought = batch.bought()
        order = list(batch.incidents[: 2 * self.batch])
        unseen = [incident for incident in order if not bought[incident]]
        if unseen:
            return _affordable(batch, unseen[: self.batch], 1, self.most)
        seen = batch.seen
        net = {incident: _net(seen.get(incident, ())) for incident in order}
        if sum(net.values()) <= 0:
            order.sort(key=lambda incident: bought[incident])
            return _affordable(batch, order[: self.batch], 1, self.most)
        order.sort(key=lambda incident: (-net[incident] / (bought[incident] + 1), bought[incident]))
        half = max(2, math.ceil(len(order) / 2))
        return _affordable(batch, order[: min(half, self.batch)], self.repeats, self.most)

    def judge(self, batch: Batch) -> Decision:
        """Accept, reject or indecisive, over all pairs so far."""
        pairs = batch.seen
        seen = effect(pairs)
        if not seen.pairs:
            return Decision("reject", "no valid pair of investigations on the targeted failures", 1)
        counts = [flips(repeats) for repeats in pairs.values()]
        evidence = clustered_sign_evidence(counts)
        p = min(1.0, 1 / evidence)
        targeted = batch.incidents[: 2 * self.batch]
        better = sum(fixed > broken for fixed, broken in counts)
        if evidence >= 1 / ALPHA and better >= (2 if len(targeted) >= WIDE else 1):
            return Decision("accept", counted("it fixed targeted failures", seen), p)
        least = min(batch.bought()[incident] for incident in targeted)
        if least >= PASSES and seen.fixed <= seen.broken:
            return Decision("reject", counted("no effect on the targeted failures", seen), p)
        if self.buy(batch) is None:
            after = f"indecisive after {batch.spent} investigations"
            return Decision("reject", counted(after, seen), p)
        little = harmless_evidence(seen.broken, seen.fixed, seen.pairs, WORTHWHILE)
        if least and (evidence < max(HOPELESS, self._line(batch.spent)) or little >= TOO_LITTLE):
            return Decision("reject", counted("a fix is out of reach", seen), p)
        return Decision("indecisive", counted("more repeats are needed", seen), p)

    def _line(self, spent: int) -> float:
        """The evidence that must be there by now: none needed at first, the bound at the cap."""
        return float((1 / ALPHA) ** (2 * spent / self.most - 1))


@dataclass(frozen=True, slots=True)
class EvidenceGuard:
    """Whether an edit leaves alone what passed before; fields as in :class:`EvidenceTarget`."""

    batch: int
    most: int

    def buy(self, batch: Batch) -> Purchase | None:
        """What was played least comes first, in the batch's order."""
        pool = len(batch.incidents)
        size = self.batch if batch.purchases else max(self.batch, clean_pairs(MARGIN, HARM_ALPHA))
        bought = batch.bought()
        order = sorted(batch.incidents, key=lambda incident: bought[incident])
        return _affordable(batch, order[:size], math.ceil(size / min(size, pool)), self.most)

    def judge(self, batch: Batch) -> Decision:
        """Accept, reject or indecisive, over all pairs so far; ``p`` is that of being harmless."""
        seen = effect(batch.seen)
        evidence = harmless_evidence(seen.fixed, seen.broken, seen.pairs, MARGIN)
        p = min(1.0, 1 / evidence)
        if sign_evidence(seen.broken, seen.fixed) >= 1 / BREAKS_ALPHA:
            return Decision("reject", counted("it broke passing incidents", seen), p)
        if evidence >= 1 / HARM_ALPHA:
            return Decision("accept", counted("passing incidents still pass", seen), p)
        if evidence < HOPELESS_GUARD or self.buy(batch) is None:
            return Decision("reject", counted("harm is not ruled out", seen), p)
        return Decision("indecisive", counted("harm is not ruled out yet", seen), p)


def _net(repeats: tuple[tuple[bool, bool], ...]) -> int:
    fixed, broken = flips(repeats)
    return fixed - broken


def _affordable(batch: Batch, incidents: list[str], repeats: int, most: int) -> Purchase | None:
    """A purchase cut to what the cap leaves."""
    left = (most - batch.spent) // 2
    repeats = min(repeats, left)
    if repeats < 1:
        return None
    return Purchase(tuple(incidents[: left // repeats]), repeats)
