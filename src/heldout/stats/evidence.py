"""Evidence that may be looked at after every pair: e-values.

An e-value is what a bet against a hypothesis has made of a stake of 1: while the hypothesis holds
its mean never exceeds 1, and the chance that it *ever* reaches ``1 / alpha`` is at most ``alpha``
(Ville's inequality), whenever one looks and however the next pairs were chosen from those before.
So repeats can be bought until it is decided. ``min(1, 1 / e)`` is a p-value. Sources: Ville (1939);
Robbins (1970), Ann. Math. Stat. 41:1397 (mixtures); Ramdas, Gruenwald, Vovk & Shafer (2023),
Statistical Science 38:576; Waudby-Smith & Ramdas (2024), JRSS B 86:1 (bets on bounded means).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

LEADS = ((0.75, 0.45), (0.96, 0.55))
"""Mixture over the share of "better" among the pairs that differ: a weak lead and a clear one."""
FIXES = ((0.85, 0.3), (0.97, 0.7))
"""The same for one incident that is fixed."""
AIMLESS = 0.65
"""Share of "better" that an aimless move up may give an incident for good: what a chance to pass of
one half gives that moves by 15 points, as 0.65 * 0.5 pairs are better then and 0.35 * 0.5 worse."""
PARTS = ((0.3, 0.5), (1.0, 0.5))
"""Mixture over the share of incidents that an effect reaches: a part of them, or all."""
BETS = ((0.25, 0.1), (0.6, 0.3), (1.1, 0.6))
"""Mixture over the stakes against harm; large stakes win soon when nothing is broken."""


@lru_cache(maxsize=65536)
def sign_evidence(better: int, worse: int) -> float:
    """Evidence that pairs which differ are better more often than worse.

    Hypothesis: each such pair is as likely better as worse. Mixture of likelihood ratios over
    :data:`LEADS`.
    """
    if min(better, worse) < 0:
        raise ValueError(f"counts cannot be negative: {better}, {worse}")
    return math.fsum(
        weight * math.exp(better * math.log(2 * lead) + worse * math.log(2 - 2 * lead))
        for lead, weight in LEADS
    )


@lru_cache(maxsize=65536)
def fix_evidence(better: int, worse: int) -> float:
    """Evidence that an incident was fixed, not only moved, from its pairs that differ.

    Hypothesis: the edit has no effect, or moves the incident for good, up as likely as down and up
    not beyond :data:`AIMLESS`; so repeats of it agree although nothing was aimed at. The likelihood
    of a fix (mixture over :data:`FIXES`) is held against that of the best-fitting such move, so it
    never exceeds an e-value against the true one (universal inference: Wasserman, Ramdas &
    Balakrishnan 2020, PNAS 117:16880). Without it few incidents that moved up by luck would be
    taken for a fix, the more surely the more repeats are bought.
    """
    if min(better, worse) < 0:
        raise ValueError(f"counts cannot be negative: {better}, {worse}")
    fixed = math.fsum(
        weight * math.exp(better * math.log(lead) + worse * math.log(1 - lead))
        for lead, weight in FIXES
    )
    return fixed / math.exp(_aimless(better + worse, abs(better - worse)))


def _aimless(pairs: int, lead: int) -> float:
    """Log likelihood of the best-fitting aimless move.

    With log odds ``z`` it is log cosh(lead z / 2) - pairs log(2 cosh(z / 2)), whose slope changes
    its sign at most once, from plus to minus.
    """

    def slope(z: float) -> float:
        return lead * math.tanh(lead * z / 2) - pairs * math.tanh(z / 2)

    low, high = 0.0, math.log(AIMLESS / (1 - AIMLESS))
    if lead * lead <= pairs:
        high = 0.0
    elif slope(high) < 0:
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return math.log(math.cosh(lead * high / 2)) - pairs * math.log(2 * math.cosh(high / 2))


def clustered_evidence(counts: Sequence[tuple[int, int]]) -> float:
    """Evidence of a fix over incidents with (better, worse) pairs, of which it may reach some.

    Each incident is a bet by itself (:func:`fix_evidence`), of which a share of :data:`PARTS` is
    reached, so an effect on a third of them is not drowned by the noise of the others. Incidents
    move apart from each other, and the next pair of one may be bought because of what all showed.
    """
    single = [fix_evidence(*pair) for pair in counts]
    return math.fsum(
        weight * math.prod(1 - part + part * one for one in single) for part, weight in PARTS
    )


@lru_cache(maxsize=65536)
def harmless_evidence(better: int, worse: int, pairs: int, margin: float) -> float:
    """Evidence that the pass rate falls by less than ``margin``; all counts are of pairs.

    Hypothesis: over the incidents played equally often, the mean of (after - before) is at most
    ``-margin``. A bet of ``stake`` turns each pair into ``1 + stake * (after - before + margin)``,
    whose mean is then at most 1. Repeats that agree within an incident do not break this for the
    incidents played; for all others the statement is as good as the incidents are many.
    """
    if min(better, worse) < 0 or better + worse > pairs or not 0 < margin < 1:
        raise ValueError(f"need better + worse <= pairs, margin in (0, 1): {better}, {worse}")
    same = pairs - better - worse
    most = 0.99 / (1 - margin)
    stakes = [(min(stake, most), weight) for stake, weight in BETS]
    return math.fsum(
        weight
        * math.exp(
            better * math.log1p(stake * (1 + margin))
            + same * math.log1p(stake * margin)
            + worse * math.log1p(-stake * (1 - margin))
        )
        for stake, weight in stakes
    )


def clean_pairs(margin: float, alpha: float) -> int:
    """How many pairs without any difference show that the pass rate falls by less than ``margin``.

    >>> clean_pairs(0.15, 0.10)
    18
    """
    return next(n for n in range(1, 10_000) if harmless_evidence(0, 0, n, margin) >= 1 / alpha)
