"""Telemetry of the path is missing where one looks first; what is left still proves the cause."""

from __future__ import annotations

from dataclasses import replace

from heldout.simulate.coverage import gap
from heldout.simulate.plot import Gap, Plot
from heldout.simulate.rhythm import DAY, HOUR, MINUTE, SECOND
from heldout.simulate.trap import Trap, around


def compose(plot: Plot) -> Plot:
    """Withhold two things: older lines of the seat or a service's series, and some lines or
    changes on the path.

    Later lines of the mechanism and of failing calls are kept, as is every change that matters.
    """
    rng = plot.rng("missing")
    old, near = rng.random() < 0.5, rng.random() < 0.5
    first = _old_lines(plot) if old else _series(plot) or _old_lines(plot)
    second = _first_lines(plot) if near else _changes(plot) or _first_lines(plot)
    return replace(plot, gaps=(*plot.gaps, first, second))


def _old_lines(plot: Plot) -> Gap:
    """A short retention: with nothing to compare with, every pattern of the seat looks new."""
    until = plot.onset - 20 * MINUTE - int(plot.rng("retention").integers(0, 70)) * MINUTE
    return gap(plot, "logs", plot.binding.seat, plot.start, until)


def _series(plot: Plot) -> Gap | None:
    """No series at all of something between victim and seat; its lines lead on as before."""
    between = plot.binding.path[1:-1]
    if not between:
        return None
    entity = between[int(plot.rng("series").integers(len(between)))]
    return gap(plot, "metrics", entity, plot.start, plot.now + SECOND)


def _first_lines(plot: Plot) -> Gap:
    """The first minutes of one entity of the path are lost, and with them who failed first."""
    rng = plot.rng("first-lines")
    entity = plot.binding.path[int(rng.integers(len(plot.binding.path)))]
    part = 0.4 + 0.2 * float(rng.random())
    until = plot.onset + round(part * (plot.ended - plot.onset))
    return gap(plot, "logs", entity, plot.onset - 5 * MINUTE, until)


def _changes(plot: Plot) -> Gap | None:
    """A day of changes of something on the path that no act of the plot touches."""
    touched = {edit.entity for act in plot.acts if act.role != "noise" for edit in act.edits}
    free = [one for one in around(plot) if one not in touched]
    if not free:
        return None
    rng = plot.rng("changes")
    since = plot.onset - DAY - int(rng.integers(2, 40)) * HOUR
    return gap(plot, "changes", free[int(rng.integers(len(free)))], since, since + DAY)


TRAP = Trap("missing_telemetry", compose, turn=3)
