"""Only a part of a fleet fails: the cluster, or the members, that an override reached."""

from __future__ import annotations

from heldout.simulate.dressing import other_edit
from heldout.simulate.plot import Act, Plot, office_moment
from heldout.simulate.rhythm import HOUR, MINUTE
from heldout.simulate.trap import Trap


def compose(plot: Plot) -> Plot:
    """Add a later change that reached the whole fleet and broke nothing.

    Where the fault has a scope, the fleet is the scope's population, and the change is of the
    holder that all of it shares; otherwise it is the holder and its siblings in other clusters.
    """
    cause = plot.act("cause")
    binding = plot.binding
    if cause is None:
        return plot
    ground = plot.land.ground
    taken = [field for at, field in plot.protected() if at == binding.holder]
    first = other_edit(plot.land, binding.holder, float(plot.rng("template").random()), taken)
    if first is None:
        return plot
    low = min(cause.ts + 30 * MINUTE, plot.onset - HOUR)
    target = cause.ts + round((plot.onset - cause.ts) * 0.6)
    ts = office_moment(plot, "template", target, low, plot.onset - 25 * MINUTE)
    others = ground.siblings(binding.holder)
    if others:
        why = "it reached every cluster alike and touched another field; the healthy clusters " \
            "have it too"  # fmt: skip
    else:
        why = "it reached those that fail and those that don't alike, and touched another field"
    also = tuple(first._replace(entity=other) for other in others)
    return plot.having(Act("template", "fleet", ts, first, also=also, why=why))


TRAP = Trap("partial_fleet", compose, siblings=True)
