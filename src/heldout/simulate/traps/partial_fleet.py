"""Only one cluster fails: the one whose copy of the setting was overridden."""

from __future__ import annotations

from heldout.simulate.dressing import other_edit
from heldout.simulate.plot import Act, Plot, office_moment
from heldout.simulate.rhythm import HOUR, MINUTE
from heldout.simulate.trap import Trap


def compose(plot: Plot) -> Plot:
    """Add the template's later change, which reached the whole fleet and broke nothing."""
    cause = plot.act("cause")
    binding = plot.binding
    if cause is None:
        return plot
    ground = plot.land.ground
    first = other_edit(
        plot.land, binding.holder, float(plot.rng("template").random()), [binding.field]
    )
    if first is None:
        return plot
    low = min(cause.ts + 30 * MINUTE, plot.onset - HOUR)
    target = cause.ts + round((plot.onset - cause.ts) * 0.6)
    ts = office_moment(plot, "template", target, low, plot.onset - 25 * MINUTE)
    also = tuple(first._replace(entity=other) for other in ground.siblings(binding.holder))
    return plot.having(
        Act(
            "template",
            "fleet",
            ts,
            first,
            also=also,
            why="it reached every cluster alike and touched another field; the healthy clusters "
            "have it too",
        )
    )


TRAP = Trap("partial_fleet", compose, siblings=True)
