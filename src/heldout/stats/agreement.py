"""Agreement of two judges beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from heldout.stats.rates import Interval


def cohen_kappa(pairs: Sequence[tuple[str, str]], level: float = 0.95) -> Interval:
    """Cohen's kappa of two raters over the same items, with an interval cut at -1 and 1.

    Source: Cohen (1960), Educ. Psychol. Meas. 20:37; the large-sample variance of Fleiss, Cohen &
    Everitt (1969), Psychol. Bull. 72:323, eq. 13. Where the raters never differ that variance is 0;
    the lower bound then follows from the share of differing items that n agreements still allow
    (the zero-event bound of :func:`~heldout.stats.rates.agreement_bounds`). A rater who always says
    the same has kappa 0 for certain. Where both do, or without items, nothing is known: NaN.
    """
    from scipy.special import ndtri

    n = len(pairs)
    cells = Counter(pairs)
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    names = sorted(rows | columns)
    if n == 0 or len(names) < 2:
        return Interval(math.nan, -1.0, 1.0, "kappa")
    row = {name: rows[name] / n for name in names}
    column = {name: columns[name] / n for name in names}
    observed = sum(cells[name, name] for name in names) / n
    expected = math.fsum(row[name] * column[name] for name in names)
    value = (observed - expected) / (1 - expected)
    if observed == 1:
        differing = 1 - ((1 - level) / 2) ** (1 / n)
        low = max(-1.0, 1 - differing / (1 - expected))
        return Interval(1.0, low, 1.0, "zero-event bound")
    diagonal = math.fsum(
        cells[name, name] / n * ((1 - expected) - (row[name] + column[name]) * (1 - observed)) ** 2
        for name in names
    )
    off = (1 - observed) ** 2 * math.fsum(
        cells[one, other] / n * (column[one] + row[other]) ** 2
        for one in names
        for other in names
        if one != other
    )
    rest = (observed * expected - 2 * expected + observed) ** 2
    variance = max(0.0, diagonal + off - rest) / (n * (1 - expected) ** 4)
    half = float(ndtri(0.5 + level / 2)) * math.sqrt(variance)
    low, high = max(-1.0, value - half), min(1.0, value + half)
    return Interval(value, low, high, "Fleiss-Cohen-Everitt")
