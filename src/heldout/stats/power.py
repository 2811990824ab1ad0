"""What a set of this size can show at all: printed before money is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass

from heldout.stats.paired import mcnemar_exact


@dataclass(frozen=True, slots=True)
class DetectableGain:
    """The smallest gain that ``n`` paired incidents can show.

    ``net_flips`` is the least number of incidents fixed with none broken for p < ``alpha``
    (``None``: out of reach with this many incidents). ``gain_at_power`` is the true gain (share of
    incidents fixed minus share broken) that is found with probability ``power`` when a share of
    ``broken_rate`` breaks by chance; ``None`` when even fixing everything else is not enough.
    """

    n: int
    alpha: float
    power: float
    broken_rate: float
    net_flips: int | None
    gain_at_power: float | None

    def sentence(self) -> str:
        """One plain sentence for the terminal and the report."""
        if self.net_flips is None:
            return (
                f"{self.n} incidents cannot show a gain at p < {self.alpha:g}, whatever happens: "
                f"{least_net_flips(self.alpha)} fixed with none broken are needed"
            )
        text = (
            f"{self.n} incidents: at least {self.net_flips} fixed with none broken "
            f"({100 * self.net_flips / self.n:.0f} points) for p < {self.alpha:g}"
        )
        if self.gain_at_power is None:
            return f"{text}; no gain is found with a probability of {100 * self.power:.0f} %"
        return (
            f"{text}; a true gain of {100 * self.gain_at_power:.0f} points is found with a "
            f"probability of {100 * self.power:.0f} % if {100 * self.broken_rate:.0f} % break by "
            f"chance"
        )


def least_net_flips(alpha: float = 0.05) -> int:
    """Incidents fixed with none broken that give p < ``alpha``: 6 for 0.05."""
    return next(k for k in range(1, 200) if mcnemar_exact(k, 0) < alpha)


def mcnemar_power(n: int, fixed_rate: float, broken_rate: float, alpha: float = 0.05) -> float:
    """Probability that ``n`` pairs give fixed > broken with exact two-sided p < ``alpha``.

    Exact sum over the trinomial (fixed, broken, unchanged). Source: Duffy (1984), Biometrics
    40:1005; Connor (1987), Biometrics 43:207.
    """
    if min(fixed_rate, broken_rate) < 0 or fixed_rate + broken_rate > 1 + 1e-12:
        raise ValueError(f"rates must sum to at most 1: {fixed_rate} + {broken_rate}")
    moved = min(1.0, fixed_rate + broken_rate)
    if moved == 0:
        return 0.0
    up = fixed_rate / moved
    total = 0.0
    for flips in range(n + 1):
        most_broken = _most_broken(flips, alpha)
        if most_broken is not None:
            tail = math.fsum(_binomial(broken, flips, 1 - up) for broken in range(most_broken + 1))
            total += _binomial(flips, n, moved) * tail
    return min(1.0, total)


def _most_broken(flips: int, alpha: float) -> int | None:
    """The largest number of broken among ``flips`` that still gives a significant gain."""
    best = None
    for broken in range((flips + 1) // 2):
        if mcnemar_exact(flips - broken, broken) >= alpha:
            break
        best = broken
    return best


def _binomial(k: int, n: int, p: float) -> float:
    if p <= 0:
        return float(k == 0)
    if p >= 1:
        return float(k == n)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(p) + (n - k) * math.log1p(-p))


def minimum_detectable_gain(
    n: int, *, alpha: float = 0.05, power: float = 0.8, broken_rate: float = 0.02
) -> DetectableGain:
    """What ``n`` paired incidents can show: net flips for significance, and the gain at ``power``.

    Assumptions, stated with the figures: incidents independent, exact two-sided McNemar, and a
    share of ``broken_rate`` of the incidents broken by run-to-run noise. The gain at power is found
    by bisection on :func:`mcnemar_power`.
    """
    if n < 0 or not 0 < alpha < 1 or not 0 < power < 1 or not 0 <= broken_rate < 1:
        raise ValueError("need n >= 0, alpha and power in (0, 1), broken_rate in [0, 1)")
    flips = least_net_flips(alpha)
    if n < flips:
        return DetectableGain(n, alpha, power, broken_rate, None, None)
    most = 1 - broken_rate
    if mcnemar_power(n, most, broken_rate, alpha) < power:
        return DetectableGain(n, alpha, power, broken_rate, flips, None)
    low, high = broken_rate, most
    for _ in range(30):
        middle = (low + high) / 2
        if mcnemar_power(n, middle, broken_rate, alpha) >= power:
            high = middle
        else:
            low = middle
    return DetectableGain(n, alpha, power, broken_rate, flips, high - broken_rate)
