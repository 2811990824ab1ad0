"""Lines in stretches of time that fit in memory, so that each can be sorted for itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heldout.graph.columns import Column


class Start(NamedTuple):
    """Where a stretch begins: a time and, among the lines of that time, a row as they came."""

    ts: int
    row: int


def starts_of(ts: Column, lengths: Column, most: int) -> list[Start]:
    """The starts of stretches with at most so many bytes of text each, or one line, in order.

    ``ts`` and ``lengths`` are those of the lines as they came.
    """
    order = None if bool(np.all(ts[1:] >= ts[:-1])) else np.argsort(ts, kind="stable")
    ends = np.cumsum(lengths if order is None else lengths[order], dtype=np.int64)
    found = []
    first = 0
    while first < len(ts):
        row = first if order is None else int(order[first])
        found.append(Start(int(ts[row]), row))
        before = int(ends[first - 1]) if first else 0
        first = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
    return found


def within(start: Start, end: Start | None) -> str:
    """SQL for the lines of a stretch, with their columns ``ts`` and ``seq``."""
    found = f"ts >= {start.ts} and (ts > {start.ts} or seq >= {start.row})"
    if end is not None:
        found += f" and ts <= {end.ts} and (ts < {end.ts} or seq < {end.row})"
    return found
