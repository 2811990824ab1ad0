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

LEADS = ((0.75, 0.45), (0.96, 0.55))
"""Mixture over the share of "better" among the pairs that differ: a weak lead and a clear one."""
PARTS = ((0.3, 0.5), (1.0, 0.5))
"""Mixture over the share of incidents that an effect reaches: a part of them, or all."""
BETS = ((0.25, 0.1), (0.6, 0.3), (1.1, 0.6))
"""Mixture over the stakes against harm; large stakes win soon when nothing is broken."""


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


def clustered_sign_evidence(counts: Sequence[tuple[int, int]]) -> float:
    """The same over incidents with (better, worse) pairs, where an effect may reach only some.

    The mean of two bets: on all pairs together, and on each incident by itself, of which a share
    of :data:`PARTS` is reached. So an effect on a third of the incidents is not drowned by the
    noise of the others. Each pair multiplies both bets by a factor of mean 1, so the order in which
    incidents are played may depend on what was seen.
    """
    together = sign_evidence(sum(one for one, _ in counts), sum(two for _, two in counts))
    single = [sign_evidence(*pair) for pair in counts]
    apart = math.fsum(
        weight * math.prod(1 - part + part * one for one in single) for part, weight in PARTS
    )
    return (together + apart) / 2


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
