"""An old change of another field of the same entity, innocent: it prices over-correction."""

from __future__ import annotations

from heldout.simulate.dressing import other_edit
from heldout.simulate.plot import Act, Plot, office_moment
from heldout.simulate.rhythm import DAY, HOUR
from heldout.simulate.trap import Trap


def compose(plot: Plot) -> Plot:
    """Add a change of the holder 1 to 9 days before onset."""
    rng = plot.rng("older")
    edit = other_edit(plot.land, plot.binding.holder, float(rng.random()), [plot.binding.field])
    if edit is None:
        return plot
    target = plot.onset - round((1 + 8 * float(rng.random())) * DAY)
    ts = office_moment(plot, "older", target, target - 6 * HOUR, target + 6 * HOUR)
    return plot.having(
        Act("earlier", "older", ts, edit, seat=plot.binding.seat,
            why="its field plays no part in the mechanism and days passed without a symptom")
    )  # fmt: skip


TRAP = Trap("older_change", compose)
