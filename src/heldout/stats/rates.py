"""Rates and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """A rate or difference with its interval; all three are fractions, not percent."""

    value: float
    low: float
    high: float
    method: str


def check_counts(hits: int, n: int) -> None:
    """Raise ``ValueError`` unless ``0 <= hits <= n``."""
    if not 0 <= hits <= n:
        raise ValueError(f"need 0 <= hits <= n, got {hits} of {n}")


def wilson(hits: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of ``hits / n``.

    Used for shown rates: its coverage is near the level also for few incidents and near 0 and 1.
    Source: Wilson (1927), JASA 22:209; recommended by Brown, Cai & DasGupta (2001), Statistical
    Science 16:101. With ``n = 0`` nothing is known: the interval is 0 to 1 and the value NaN.
    """
    from scipy.special import ndtri

    check_counts(hits, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0, "Wilson")
    z = float(ndtri(0.5 + level / 2))
    p = hits / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == n else min(1.0, centre + half)
    return Interval(p, low, high, "Wilson")


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> Interval:
    """The exact interval of ``hits / n``: never covers less than ``level``.

    Source: Clopper & Pearson (1934), Biometrika 26:404, through quantiles of the beta distribution.
    With ``n = 0`` the interval is 0 to 1 and the value NaN.
    """
    from scipy.special import betaincinv

    check_counts(hits, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0, "Clopper-Pearson")
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - tail))
    return Interval(hits / n, low, high, "Clopper-Pearson")


def cluster_rate(rates: Sequence[float], level: float = 0.95) -> Interval:
    """The mean of per-incident pass rates with an interval that treats repeats as one cluster.

    Repeats of one incident are not independent, so the incident is the unit: mean +- t(n - 1) times
    s / sqrt(n) over incidents, cut at 0 and 1. Source: Miller (2024), "Adding error bars to evals",
    arXiv:2411.00640 section 2.2, with every cluster weighted alike. Where all incidents agree
    (s = 0) the t interval would have no width; then :func:`agreement_bounds` is used.
    """
    return mean_interval(rates, 0.0, 1.0, level)


def mean_interval(
    values: Sequence[float], least: float, most: float, level: float = 0.95
) -> Interval:
    """Mean and t interval of independent values that lie between ``least`` and ``most``."""
    from scipy.special import stdtrit

    n = len(values)
    if n == 0:
        return Interval(math.nan, least, most, "t over incidents")
    mean = math.fsum(values) / n
    if max(values) - min(values) < 1e-12:
        return agreement_bounds(mean, n, least, most, level)
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * spread / math.sqrt(n)
    return Interval(mean, max(least, mean - half), min(most, mean + half), "t over incidents")


def agreement_bounds(
    value: float, n: int, least: float, most: float, level: float = 0.95
) -> Interval:
    """Interval of a mean when all ``n`` incidents showed the same ``value``.

    When none of n incidents differs, fewer than ``q = 1 - tail^(1/n)`` of all such incidents differ
    (the zero-event bound: Hanley & Lippman-Hand 1983, JAMA 249:1743); each of them can move the
    mean at most to the end of its range.
    """
    share = 1 - ((1 - level) / 2) ** (1 / n)
    low, high = value - share * (value - least), value + share * (most - value)
    return Interval(value, low, high, "zero-event bound")
