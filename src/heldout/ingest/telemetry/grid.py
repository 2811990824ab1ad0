"""Points at any times as runs of values at even steps, gaps as NaN.

The step is the usual distance of the points, in whole seconds and no less than one. A point goes
to the nearest step; of several that meet there the last one stands. Points further apart than a
gap is drawn begin a new run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

SECOND = 1_000_000
WIDEST_GAP = 30
"""Steps of a gap that are drawn as NaN inside one run."""

_RUN_POINTS = 16
"""Runs are not shorter than this on average: the step is doubled until they are not."""

Numbers = np.ndarray[Any, Any]


class Even(NamedTuple):
    """A run of values, ``step_s`` apart from ``t0`` (microseconds) on."""

    t0: int
    step_s: int
    values: Numbers


class Tally:
    """What evening out did to the points."""

    def __init__(self) -> None:
        self.points = 0
        self.moved = 0
        self.met = 0
        self.gaps = 0
        self.not_numbers = 0

    def notes(self) -> list[str]:
        """In words, what there is to say."""
        return [
            f"{count} {what}"
            for count, what in (
                (self.not_numbers, "values that are no finite numbers, kept as gaps"),
                (self.moved, "points moved to the nearest step of an even grid"),
                (self.met, "points met another at one step, where the later one stands"),
                (self.gaps, "steps without a point, kept as gaps"),
            )
            if count
        ]


def even_runs(times: Numbers, values: Numbers, tally: Tally, step_s: int = 0) -> Iterator[Even]:
    """The runs of one series; ``times`` in microseconds and in any order.

    ``step_s`` is taken where it is known, else found from the times.
    """
    if not len(times):
        return
    order = np.argsort(times, kind="stable")
    times = np.asarray(times, dtype=np.int64)[order]
    values = finite(np.asarray(values)[order], tally)
    tally.points += len(times)
    step_s = step_s or step_of(times)
    step = step_s * SECOND
    breaks = np.flatnonzero(np.diff(times) > WIDEST_GAP * step) + 1
    for own, said in zip(np.split(times, breaks), np.split(values, breaks), strict=True):
        t0 = int(own[0])
        slots = (own - t0 + step // 2) // step
        tally.moved += int(np.count_nonzero(slots * step + t0 != own))
        drawn = np.full(int(slots[-1]) + 1, np.nan, dtype=np.float32)
        drawn[slots] = said
        taken = len(np.unique(slots))
        tally.met += len(slots) - taken
        tally.gaps += len(drawn) - taken
        yield Even(t0, step_s, drawn)


def step_of(times: Numbers) -> int:
    """The usual distance of ascending times in whole seconds, at least one; 60 for a single one."""
    apart = np.diff(times)
    apart = apart[apart > 0]
    if not len(apart):
        return 60
    usual = int(np.sort(apart)[(len(apart) - 1) // 3])  # Missing points only make it longer.
    step = max(round(usual / SECOND), 1)
    while np.count_nonzero(apart > WIDEST_GAP * step * SECOND) * _RUN_POINTS > len(times) + 64:
        step *= 2
    return min(step, 2**31 - 1)


def finite(values: Numbers, tally: Tally) -> Numbers:
    """Values as 32-bit floats, what is no finite number as NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = np.asarray(values, dtype=np.float64).astype(np.float32)
    odd = ~np.isfinite(narrow)
    if odd.any():
        tally.not_numbers += int(np.count_nonzero(odd))
        narrow[odd] = np.nan
    return narrow
