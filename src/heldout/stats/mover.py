"""The interval of a difference from the intervals of its parts."""

from __future__ import annotations

import math

from heldout.stats.rates import Interval


def mover_difference(first: Interval, second: Interval, weight: float = 1.0) -> Interval:
    """Interval of ``first - weight * second`` for independent parts, ``weight`` not negative.

    Method of variance estimates recovery: the distance of each part to its own limit stands for
    its spread on that side, so it keeps what is special about intervals of few counts. It has the
    level of the parts. Source: Zou & Donner (2008), Statistics in Medicine 27:1693, eq. 2.
    """
    if weight < 0:
        raise ValueError(f"a weight cannot be negative: {weight}")
    value = first.value - weight * second.value
    down = math.hypot(first.value - first.low, weight * (second.high - second.value))
    up = math.hypot(first.high - first.value, weight * (second.value - second.low))
    return Interval(value, value - down, value + up, "MOVER")
