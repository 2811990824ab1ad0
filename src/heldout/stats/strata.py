"""The same incidents twice: has the pass rate moved, and what movement would have been noticed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Stratum(NamedTuple):
    """One incident: passes and valid investigations now, and the same earlier."""

    passed: int
    runs: int
    passed_earlier: int
    runs_earlier: int


def stratified_exact(strata: Sequence[Stratum]) -> float:
    """Two-sided exact test that an incident passes as often now as earlier, over all incidents.

    While nothing has changed, any of an incident's results is as likely to be one of now's as any
    other, so its passes now are hypergeometric given all its passes; incidents are independent and
    their sum is what is tested. p adds up every sum that is no likelier than the one seen, as
    Fisher's test does. Source: the conditional exact test of common odds ratios in Mehta, Patel &
    Gray (1985), JASA 80:969. Repeats of one incident in one run count as independent.

    >>> round(stratified_exact([Stratum(0, 3, 12, 12)]), 4)
    0.0022
    """
    chances, seen = [1.0], 0
    for one in strata:
        if min(one) < 0 or one.passed > one.runs or one.passed_earlier > one.runs_earlier:
            raise ValueError(f"need 0 <= passed <= runs, got {tuple(one)}")
        seen += one.passed
        chances = _sum_of(chances, _passes_now(one))
    limit = chances[seen] * (1 + 1e-9)
    as_rare = [chance for chance in chances if chance <= limit]
    return 1.0 if len(as_rare) == len(chances) else min(1.0, math.fsum(as_rare))


def _passes_now(one: Stratum) -> list[float]:
    """The chance of 0, 1, ... passes now, given all passes of both."""
    whole = one.runs + one.runs_earlier
    passes = one.passed + one.passed_earlier
    ways = math.comb(whole, one.runs)
    return [
        math.comb(passes, k) * math.comb(whole - passes, one.runs - k) / ways
        for k in range(one.runs + 1)
    ]


def _sum_of(first: Sequence[float], second: Sequence[float]) -> list[float]:
    made = [0.0] * (len(first) + len(second) - 1)
    for i, one in enumerate(first):
        for k, other in enumerate(second):
            made[i + k] += one * other
    return made


def noticeable_change(strata: Sequence[Stratum], alpha: float, power: float = 0.8) -> float:
    """How far the pass rate must move to be noticed with this ``power``; a share, 1 is all of it.

    Normal approximation with each incident's variance as its results so far give it (half a pass
    and half a fail added, so that an incident that always passed is not taken for certain).
    """
    from scipy.special import ndtri

    counted = [one for one in strata if one.runs and one.runs_earlier]
    if not counted:
        return 1.0
    variance = 0.0
    for one in counted:
        rate = (one.passed + one.passed_earlier + 0.5) / (one.runs + one.runs_earlier + 1)
        variance += rate * (1 - rate) * (1 / one.runs + 1 / one.runs_earlier)
    spread = math.sqrt(variance) / len(counted)
    return min(1.0, float(ndtri(1 - alpha / 2) + ndtri(power)) * spread)


def signed_rank(differences: Sequence[float]) -> float:
    """Two-sided Wilcoxon signed-rank test that paired differences are centred on nothing.

    Exact for few pairs without ties (scipy chooses). Without any difference p is 1.
    """
    from scipy.stats import wilcoxon

    moved = [one for one in differences if one]
    if not moved:
        return 1.0
    return float(wilcoxon(moved).pvalue)
