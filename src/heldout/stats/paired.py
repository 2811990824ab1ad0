"""Two brains on the same incidents."""

from __future__ import annotations

import math
from collections.abc import Sequence

from heldout.stats.rates import Interval, mean_interval


def mcnemar_exact(fixed: int, broken: int) -> float:
    """Two-sided exact McNemar test of ``fixed`` against ``broken`` incidents.

    Under "no difference" each incident that changed is as likely fixed as broken, so the smaller
    count is Binomial(fixed + broken, 1/2); the tail is doubled and cut at 1. Source: McNemar
    (1947), Psychometrika 12:153, exact form; Dietterich (1998), Neural Computation 10:1895.

    >>> round(mcnemar_exact(15, 1), 5)
    0.00052
    """
    if fixed < 0 or broken < 0:
        raise ValueError(f"counts cannot be negative: {fixed}, {broken}")
    n, least = fixed + broken, min(fixed, broken)
    term = total = 1
    for i in range(1, least + 1):
        term = term * (n - i + 1) // i
        total += term
    return min(1.0, 2 * total / 2**n) if n else 1.0


def worst_case_p(fixed: int, broken: int) -> float:
    """p of a *gain* when what is missing was counted against the change: 1 unless fixed > broken.

    The counts must come from :func:`heldout.compare.worst_case`, which books each missing
    investigation as a pass of the old brain and a fail of the new one.
    """
    return mcnemar_exact(fixed, broken) if fixed > broken else 1.0


def tango_interval(fixed: int, broken: int, n: int, level: float = 0.95) -> Interval:
    """Score interval of ``(fixed - broken) / n``, the paired difference of solved rates.

    Keeps its coverage for few incidents and with no discordant pair, where the Wald interval
    collapses. Source: Tango (1998), Statistics in Medicine 17:891, eqs. 3-5: the limits are the
    differences at which the score statistic equals the normal quantile; found by bisection.
    """
    from scipy.special import ndtri

    if fixed < 0 or broken < 0 or fixed + broken > n:
        raise ValueError(f"need fixed + broken <= n, got {fixed} + {broken} of {n}")
    if n == 0:
        return Interval(math.nan, -1.0, 1.0, "Tango score")
    z = float(ndtri(0.5 + level / 2))
    value = (fixed - broken) / n
    low = -1.0 if broken == n else _bisect(fixed, broken, n, z, -1.0, value)
    high = 1.0 if fixed == n else _bisect(fixed, broken, n, -z, value, 1.0)
    return Interval(value, low, high, "Tango score")


def _score(fixed: int, broken: int, n: int, delta: float) -> float:
    """Tango's score statistic for ``H0: difference = delta``; decreasing in ``delta``."""
    a = 2 * n
    b = -fixed - broken + (2 * n - fixed + broken) * delta
    c = -broken * delta * (1 - delta)
    p21 = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * p21 + delta * (1 - delta))
    top = fixed - broken - n * delta
    if variance <= 1e-15:
        return 0.0 if abs(top) < 1e-12 else math.copysign(math.inf, top)
    return top / math.sqrt(variance)


def _bisect(fixed: int, broken: int, n: int, z: float, low: float, high: float) -> float:
    for _ in range(80):
        middle = (low + high) / 2
        if _score(fixed, broken, n, middle) > z:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def cluster_difference(
    before: Sequence[float], after: Sequence[float], level: float = 0.95
) -> Interval:
    """Mean difference of per-incident pass rates (after - before), interval clustered by incident.

    ``before[i]`` and ``after[i]`` are pass rates of the same incident over its repeats, so each
    incident gives one difference and the paired t interval over incidents is the cluster-robust one
    with equal weights. Source: Miller (2024), arXiv:2411.00640 section 4.2 (paired differences,
    clustered); t with n - 1 degrees of freedom; zero-event bound where all differences are equal.
    """
    if len(before) != len(after):
        raise ValueError(f"unpaired: {len(before)} against {len(after)} incidents")
    return mean_interval([b - a for a, b in zip(before, after, strict=True)], -1.0, 1.0, level)
