"""Metric series, drawn with at most sixty points."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.graph.ontology import near
from heldout.graph.tools.backend import Args
from heldout.graph.tools.page import Page, Window, iso
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

MOST_POINTS = 60
_SECOND = 1_000_000
_QUIET_SHARE = 4
_RUN = 3
_ROUND_STEPS = (
    1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
)  # fmt: skip


def query_metrics(reader: Reader, args: Args) -> Page:
    """The series of one entity in a window: averages per step, and where they first moved."""
    entity = reader.entity(args["entity"])
    window = reader.window(args["since"], args["until"])
    gaps = reader.gaps("metric", window, (entity.id,))
    known = reader.world.metrics.of(entity.id)
    wanted = args.get("names")
    if wanted:
        names = sorted({one.name for one in known})
        for name in wanted:
            if name not in names:
                raise Refusal(
                    "bad_argument",
                    f"{entity.name} has no metric '{name[:80]}'",
                    near(name, names, limit=5) or names[:8],
                )
        known = [one for one in known if one.name in wanted]
    offset, limit = args["offset"], args["limit"]
    page = known[offset : offset + limit]
    points = points_of(reader, [one.id for one in page], window)
    step = _step(window, args.get("step"))
    rows = [
        {
            "series": one.id,
            "name": one.name,
            "unit": one.unit,
            **_drawn(points[one.id], window, step),
        }
        for one in page
    ]
    extra = {"step_seconds": step // _SECOND}
    return Page(rows, total=len(known), offset=offset, window=window, gaps=gaps, extra=extra)


def _step(window: Window, asked: int | None) -> int:
    """The step asked for in microseconds, widened to a round one that gives sixty points."""
    span = window.until - window.since + 1
    least = max(-(-span // (MOST_POINTS * _SECOND)), asked or 0, 1)
    if least == asked:
        return least * _SECOND
    rounded = next((one for one in _ROUND_STEPS if one >= least), least)
    return rounded * _SECOND


Series = tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.float64]]]
"""Times in microseconds, ascending, and values without gaps."""


def points_of(reader: Reader, ids: list[str], window: Window) -> dict[str, Series]:
    """Times and values in the window; where a finer chunk begins, it replaces the coarser."""
    found: dict[str, Series] = {
        one: (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)) for one in ids
    }
    metrics = reader.world.metrics
    inside = []
    for chunk in metrics.chunks(ids, window.until):
        step = chunk.step_s * _SECOND
        first = max(0, -((chunk.t0 - window.since) // step))
        end = min((window.until - chunk.t0) // step + 1, chunk.points)
        if end > first:
            inside.append((chunk, first, end))
    values = metrics.values([(chunk.first + a, chunk.first + b) for chunk, a, b in inside])
    for (chunk, first, end), given in zip(inside, values, strict=True):
        one, fine = chunk.series_id, given.astype(np.float64)
        times = chunk.t0 + np.arange(first, end, dtype=np.int64) * (chunk.step_s * _SECOND)
        old_times, old = found[one]
        keep = (old_times < times[0]) | (old_times > times[-1])
        merged = np.concatenate([old_times[keep], times])
        order = np.argsort(merged, kind="stable")
        found[one] = (merged[order], np.concatenate([old[keep], fine])[order])
    return {one: (t[~np.isnan(v)], v[~np.isnan(v)]) for one, (t, v) in found.items()}


def _drawn(series: Series, window: Window, step: int) -> dict[str, Any]:
    times, values = series
    if not len(values):
        return {"points": [], "min": None, "max": None, "mean": None, "first_change": None}
    bucket = (times - window.since) // step
    which, start = np.unique(bucket, return_index=True)
    means = np.add.reduceat(values, start) / np.diff(np.append(start, len(values)))
    points = [
        [iso(window.since + int(b) * step), rounded(v)] for b, v in zip(which, means, strict=True)
    ]
    moved = _first_change(values)
    return {
        "points": points,
        "min": rounded(values.min()),
        "max": rounded(values.max()),
        "mean": rounded(values.mean()),
        "first_change": None if moved is None else iso(int(times[moved])),
    }


def _first_change(values: np.ndarray[Any, np.dtype[np.float64]]) -> int | None:
    """Where three points in a row first leave the level of the first quarter of the window.

    The level is its median; leaving means by more than six scaled median deviations and by more
    than a tenth of the level.
    """
    count = max(len(values) // _QUIET_SHARE, _RUN)
    if len(values) < count + _RUN:
        return None
    quiet = values[:count]
    level = float(np.median(quiet))
    noise = 1.4826 * float(np.median(np.abs(quiet - level)))
    allowed = max(6.0 * noise, 0.1 * abs(level), 1e-9)
    over = np.sign(values - level) * (np.abs(values - level) > allowed)
    over[:count] = 0
    run = np.abs(over[:-2] + over[1:-1] + over[2:]) == _RUN
    hits = np.flatnonzero(run)
    return int(hits[0]) if len(hits) else None


def rounded(value: float) -> float | int:
    """Four significant digits, whole where it is whole."""
    rounded = float(f"{value:.4g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
