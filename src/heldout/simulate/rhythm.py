"""When things happen: office hours for people, a day's curve for traffic.

Shape after graph_simulator research on two public production repositories: 92-97 % of human changes
in office hours, few at weekends, a lunch dip, a slower Friday; a fifth of organisations follow the
sun.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.simulate.streams import stream

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_WORK = np.array([26, 62, 88, 100, 74, 64, 96, 100, 94, 70, 30], dtype=np.float64)
"""Weight of the hours 8 to 18 of a working day; the dip is lunch."""
_REST = np.array(
    [2, 1.2, 0.8, 0.8, 0.8, 1.2, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 10, 8, 6, 4],
    dtype=np.float64,
)  # fmt: skip
"""Weight of the hours outside work."""

Int64 = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When the people of an organisation make changes, as shares of a week's.

    ``office`` is the share between 8 and 19 h, ``weekend`` that of Saturday and Sunday, ``friday``
    the factor on a Friday. With ``round_the_clock`` sites follow the sun and no hour is special.
    """

    office: float = 0.95
    weekend: float = 0.015
    friday: float = 0.7
    round_the_clock: bool = False

    def hours(self) -> np.ndarray[Any, Any]:
        """Weights of the 24 hours of a day."""
        if self.round_the_clock:
            return np.ones(24)
        weight: np.ndarray[Any, Any] = _REST * ((1 - self.office) / _REST.sum())
        weight[8:19] = _WORK * (self.office / _WORK.sum())
        return weight

    def days(self) -> np.ndarray[Any, Any]:
        """Weights of the seven days, Monday first."""
        week = np.array([0.92, 1.05, 1.08, 1.04, self.friday, 0.0, 0.0])
        week[5:] = week.sum() * self.weekend / (1 - self.weekend) * np.array([0.53, 0.47])
        return week


USUAL = Rhythm()
"""The rhythm of an organisation of which nothing is known."""


def weekday(ts: int) -> int:
    """0 = Monday; the epoch was a Thursday."""
    return int((ts // DAY + 3) % 7)


def _hourly(
    start: int, end: int, *, flat: bool, rhythm: Rhythm
) -> tuple[np.ndarray[Any, Any], Int64]:
    """Weights of the hours between start and end, partial ones in part, and where each begins."""
    hours = np.arange(start // HOUR * HOUR, end, HOUR, dtype=np.int64)
    day = (hours // DAY + 3) % 7
    hour = hours // HOUR % 24
    if flat:
        busy = USUAL.hours() / USUAL.hours().max()
        weight = 0.6 + 0.4 * busy[hour] * np.where(day > 4, 0.3, 1.0)
    else:
        weight = rhythm.hours()[hour] * rhythm.days()[day]
    covered = np.minimum(hours + HOUR, end) - np.maximum(hours, start)
    return weight * (covered / HOUR), hours


def moments(
    rng: np.random.Generator,
    count: int,
    start: int,
    end: int,
    *,
    flat: bool,
    rhythm: Rhythm = USUAL,
) -> Int64:
    """``count`` moments from start to end, as people work unless ``flat``; whole seconds.

    ``flat`` is the load of machines: some at any hour, more in the day.
    """
    weight, hours = _hourly(start, end, flat=flat, rhythm=rhythm)
    total = np.cumsum(weight)
    slots = np.minimum(np.searchsorted(total, rng.random(count) * total[-1]), len(hours) - 1)
    low = np.maximum(hours[slots], start)
    high = np.minimum(hours[slots] + HOUR, end)
    at = low + (rng.random(count) * (high - low)).astype(np.int64)
    whole: Int64 = np.maximum(at // SECOND * SECOND, start)
    return whole


def near_office(
    rng: np.random.Generator, target: int, low: int, high: int, rhythm: Rhythm = USUAL
) -> int:
    """A moment close to ``target`` that people would work at, within [low, high]."""
    spread = 5 * HOUR
    window_low, window_high = max(low, target - spread), min(high, target + spread)
    if window_high - window_low < 2 * MINUTE:
        return min(max(target, low), high) // SECOND * SECOND
    return int(moments(rng, 1, window_low, window_high, flat=False, rhythm=rhythm)[0])


def worked(start: int, end: int, rhythm: Rhythm = USUAL) -> float:
    """How much people work between start and end, in hours of the busiest kind."""
    if end <= start:
        return 0.0
    weight, _ = _hourly(start, end, flat=False, rhythm=rhythm)
    return float(weight.sum() / (rhythm.hours().max() * rhythm.days().max()))


def iso(ts: int) -> str:
    """A time as ``2026-03-04T12:00:00Z``."""
    moment = datetime.datetime.fromtimestamp(ts // SECOND, tz=datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


_FIRST_MONDAY = 1_769_990_400_000_000
"""2 February 2026."""


def calendar(seed: int, knobs: Mapping[str, float | int | str]) -> tuple[int, int, int]:
    """(now, start, onset): a weekday in working hours of 2026, a history of 10 to 19 days.

    The history reaches at least three days before a cause that is ``latency_days`` old.
    """
    rng = stream(seed, "calendar")
    day = int(rng.integers(0, 26)) * 7 + int(rng.integers(0, 5))
    now = _FIRST_MONDAY + day * DAY + int(rng.integers(10 * 60, 18 * 60)) * MINUTE
    now += int(rng.integers(0, 60)) * SECOND
    days = 10 + round(float(rng.triangular(0, 3, 9)))
    days = max(days, int(float(knobs.get("latency_days", 0))) + 4)
    onset = now - int(rng.integers(6 * 60, 15 * 60)) * SECOND
    return now, now - days * DAY, onset
