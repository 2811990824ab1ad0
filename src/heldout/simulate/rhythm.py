"""When things happen: office hours for people, a day's curve for traffic.

Shape after graph_simulator research on two public production repositories: 92-97 % of human changes
in office hours, few at weekends, a lunch dip, a slower Friday.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from heldout.simulate.streams import stream

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_OFFICE = np.array(
    [1, 0.6, 0.4, 0.4, 0.4, 0.6, 1, 4, 24, 62, 88, 100, 72, 78, 98, 100, 92, 66, 22, 8, 5, 4, 3, 2],
    dtype=np.float64,
)
_WEEK = np.array([0.92, 1.05, 1.08, 1.04, 0.66, 0.03, 0.025])

Int64 = np.ndarray[Any, np.dtype[np.int64]]


def weekday(ts: int) -> int:
    """0 = Monday; the epoch was a Thursday."""
    return int((ts // DAY + 3) % 7)


def _hourly(start: int, end: int, *, flat: bool) -> tuple[np.ndarray[Any, Any], Int64]:
    """Weights of the hours between start and end, partial ones in part, and where each begins."""
    hours = np.arange(start // HOUR * HOUR, end, HOUR, dtype=np.int64)
    day = (hours // DAY + 3) % 7
    hour = hours // HOUR % 24
    if flat:
        weight = 0.6 + 0.4 * (_OFFICE[hour] / 100) * np.where(day > 4, 0.3, 1.0)
    else:
        weight = _OFFICE[hour] * _WEEK[day]
    covered = np.minimum(hours + HOUR, end) - np.maximum(hours, start)
    return weight * (covered / HOUR), hours


def moments(rng: np.random.Generator, count: int, start: int, end: int, *, flat: bool) -> Int64:
    """``count`` moments from start to end, in office hours unless ``flat``; whole seconds."""
    weight, hours = _hourly(start, end, flat=flat)
    total = np.cumsum(weight)
    slots = np.minimum(np.searchsorted(total, rng.random(count) * total[-1]), len(hours) - 1)
    low = np.maximum(hours[slots], start)
    high = np.minimum(hours[slots] + HOUR, end)
    at = low + (rng.random(count) * (high - low)).astype(np.int64)
    whole: Int64 = np.maximum(at // SECOND * SECOND, start)
    return whole


def near_office(rng: np.random.Generator, target: int, low: int, high: int) -> int:
    """A moment close to ``target`` that people would work at, within [low, high]."""
    spread = 5 * HOUR
    window_low, window_high = max(low, target - spread), min(high, target + spread)
    if window_high - window_low < 2 * MINUTE:
        return min(max(target, low), high) // SECOND * SECOND
    return int(moments(rng, 1, window_low, window_high, flat=False)[0])


def iso(ts: int) -> str:
    """A time as ``2026-03-04T12:00:00Z``."""
    moment = datetime.datetime.fromtimestamp(ts // SECOND, tz=datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


_FIRST_MONDAY = 1_769_990_400_000_000
"""2 February 2026."""


def calendar(seed: int, knobs: Mapping[str, float | int | str]) -> tuple[int, int, int]:
    """(now, start, onset): a weekday in working hours of 2026, a history of 13 to 20 days."""
    rng = stream(seed, "calendar")
    day = int(rng.integers(0, 26)) * 7 + int(rng.integers(0, 5))
    now = _FIRST_MONDAY + day * DAY + int(rng.integers(10 * 60, 18 * 60)) * MINUTE
    now += int(rng.integers(0, 60)) * SECOND
    days = max(13 + int(rng.integers(0, 5)), int(float(knobs.get("latency_days", 0))) + 4)
    onset = now - int(rng.integers(6 * 60, 15 * 60)) * SECOND
    return now, now - days * DAY, onset
