"""Acceptance by evidence: pairs are bought until they decide, up to a cap.

*Target.* E-values over the incidents (:func:`heldout.stats.clustered_evidence`): an edit without
effect, or that moves each incident up or down at random by some 15 points, reaches ``1 / ALPHA`` in
at most ``ALPHA`` of cases over all its looks, whatever the pass rates are and however repeats
agree. First every incident is played once; then an edit without a lead a few times more; one with a
lead on the better half, where its effect shows most. What cannot reach the bound any more is
dropped: the evidence must stay above a line that rises to the bound as the cap is spent, and the
effect must not be shown to be too small to matter.

*Guard.* An edit is harmless when the pass rate of what passed before falls by less than ``MARGIN``
(:func:`heldout.stats.harmless_evidence`): one that costs ``MARGIN`` or more is taken for harmless
in at most ``HARM_ALPHA`` of cases. The first look plays as many pairs as show it when none differs.
Further ones go first to incidents that broke: an edit that breaks some for good falls, although
the mean may hold. Incidents are targeted because they failed, so an edit that merely rolls the dice
anew fixes some of them; it breaks as many of those that passed, and is caught here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from heldout.stats import (
    clean_pairs,
    clustered_evidence,
    harmless_evidence,
    sign_evidence,
)
from heldout.tune.acceptance.counts import Decision, Effect, Pairs, counted, effect, flips
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
"""How often every targeted incident is played at least before an edit is dropped."""
PROBED = 40
"""Investigations before an edit is dropped that fixed something, but no more than it broke."""
HOPELESS = 0.05
"""Evidence of a fix below which an edit is dropped."""
WORTHWHILE = 0.1
"""Net share of fixed pairs on what is played below which a fix is not worth more repeats."""
TOO_LITTLE = 4.0
"""Evidence that the effect is below ``WORTHWHILE`` at which an edit is dropped."""
HOPELESS_GUARD = 0.01
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
        evidence = clustered_evidence(counts)
        p = min(1.0, 1 / evidence)
        targeted = batch.incidents[: 2 * self.batch]
        better = sum(fixed > broken for fixed, broken in counts)
        wanted = 2 if len(targeted) >= WIDE else 1
        if evidence >= 1 / ALPHA and better >= wanted:
            return Decision("accept", counted("it fixed targeted failures", seen), p)
        least = min(batch.bought()[incident] for incident in targeted)
        probed = not seen.fixed or batch.spent >= PROBED
        if least >= PASSES and probed and seen.fixed <= seen.broken:
            return Decision("reject", counted("no effect on the targeted failures", seen), p)
        if not _pairs_left(batch, self.most):
            after = f"indecisive after {batch.spent} investigations"
            return Decision("reject", counted(after, seen), p)
        if least and (evidence < max(HOPELESS, self._line(batch.spent)) or _too_little(seen)):
            return Decision("reject", counted("a fix is out of reach", seen), p)
        if better < wanted and evidence >= 1 / ALPHA and _too_little(_but_best(pairs)):
            return Decision("reject", counted("one incident alone is better", seen), p)
        return Decision("indecisive", counted("more repeats are needed", seen), p)

    def _line(self, spent: int) -> float:
        """The evidence that must be there by now: none needed at first, the bound at the cap."""
        return float((1 / ALPHA) ** (2 * spent / self.most - 1))


@dataclass(frozen=True, slots=True)
class EvidenceGuard:
    """Whether an edit leaves alone what passed before; ``batch`` and ``most`` as for the target.

    ``margin``: the fall of the pass rate that is too much, as a fraction; ``alpha``: how often an
    edit that costs it may be taken for harmless.
    """

    batch: int
    most: int
    margin: float = MARGIN
    alpha: float = HARM_ALPHA

    def buy(self, batch: Batch) -> Purchase | None:
        """In turn; after the first look half of it to incidents that broke, the worst first."""
        bought = batch.bought()
        turn = sorted(batch.incidents, key=lambda incident: bought[incident])
        if not batch.purchases:
            size = max(self.batch, clean_pairs(self.margin, self.alpha))
            repeats = math.ceil(size / min(size, len(turn)))
            return _affordable(batch, turn[:size], repeats, self.most)
        seen = batch.seen
        net = {incident: _net(seen.get(incident, ())) for incident in turn}
        worst = sorted(turn, key=lambda incident: net[incident] / (bought[incident] + 1))
        broken = [incident for incident in worst if net[incident] < 0][: math.ceil(self.batch / 2)]
        others = [incident for incident in turn if incident not in broken]
        return _affordable(batch, [*broken, *others][: self.batch], 1, self.most)

    def judge(self, batch: Batch) -> Decision:
        """Accept, reject or indecisive, over all pairs so far; ``p`` is that of being harmless."""
        pairs = batch.seen
        seen = effect(pairs)
        evidence = harmless_evidence(seen.fixed, seen.broken, seen.pairs, self.margin)
        p = min(1.0, 1 / evidence)
        if _breaks(pairs, seen) >= 1 / BREAKS_ALPHA:
            return Decision("reject", counted("it broke passing incidents", seen), p)
        if evidence >= 1 / self.alpha:
            return Decision("accept", counted("passing incidents still pass", seen), p)
        if evidence < HOPELESS_GUARD or not _pairs_left(batch, self.most):
            return Decision("reject", counted("harm is not ruled out", seen), p)
        return Decision("indecisive", counted("harm is not ruled out yet", seen), p)


def _breaks(pairs: Pairs, seen: Effect) -> float:
    """Evidence that incidents broke: some of them for good, or all a little."""
    turned = [flips(repeats)[::-1] for repeats in pairs.values()]
    return (clustered_evidence(turned) + sign_evidence(seen.broken, seen.fixed)) / 2


def _too_little(seen: Effect) -> bool:
    """Whether the effect is shown to be too small to be worth more repeats."""
    return harmless_evidence(seen.broken, seen.fixed, seen.pairs, WORTHWHILE) >= TOO_LITTLE


def _but_best(pairs: Pairs) -> Effect:
    """What was seen without the incident on which the edit does best."""
    best = max(pairs, key=lambda incident: _net(pairs[incident]))
    return effect({incident: pairs[incident] for incident in pairs if incident != best})


def _net(repeats: tuple[tuple[bool, bool], ...]) -> int:
    fixed, broken = flips(repeats)
    return fixed - broken


def _pairs_left(batch: Batch, most: int) -> int:
    return (most - batch.spent) // 2


def _affordable(batch: Batch, incidents: list[str], repeats: int, most: int) -> Purchase | None:
    """A purchase cut to what the cap leaves."""
    left = _pairs_left(batch, most)
    repeats = min(repeats, left)
    if repeats < 1:
        return None
    return Purchase(tuple(incidents[: left // repeats]), repeats)
