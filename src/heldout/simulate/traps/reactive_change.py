"""What somebody did to help after onset: it looks causal and came too late to be."""

from __future__ import annotations

from heldout.simulate.catalog import fields_of
from heldout.simulate.dressing import image_at
from heldout.simulate.ground import Edit
from heldout.simulate.landscape import spell
from heldout.simulate.plot import Act, Plot
from heldout.simulate.rhythm import DAY, SECOND, iso
from heldout.simulate.trap import Trap, around

_SLACK = 100 * SECOND
"""How long after onset at least, and before now, so that it is collected by then."""
_SCALED = (("Hpa", "min_replicas"), ("Deployment", "cpu_limit"))


def _edits(plot: Plot, ts: int) -> list[Edit]:
    """Restarts, more room and rollbacks of what the path runs on, the cause's holder left out."""
    ground, taken = plot.land.ground, plot.protected()
    edits = []
    for entity in around(plot, ("Deployment", "Hpa")):
        kind = ground.entities[entity].kind
        if kind == "Deployment":
            edits.append(Edit(entity, "annotations.restarted_at", iso(ts), None))
            earlier = image_at(ground, entity, ts - 2 * DAY, plot.start)
            edits.append(Edit(entity, "image", earlier, None))
        values = {spell(one.field, plot.land.style): one.values for one in fields_of(kind)}
        for scaled, field in _SCALED:
            if kind == scaled and field in values:
                edits.append(Edit(entity, field, values[field][-1], values[field][0]))
    return [edit for edit in edits if (edit.entity, edit.field) not in taken]


def compose(plot: Plot) -> Plot:
    """Add one or two mitigations between onset and now."""
    rng = plot.rng("reaction")
    for number in range(1 + int(rng.random() < 0.4)):
        ts = int(rng.integers(plot.onset + _SLACK, plot.now - _SLACK)) // SECOND * SECOND
        edits = _edits(plot, ts)
        if not edits:
            break
        edit = edits[int(rng.random() * len(edits))]
        act = Act(
            f"help/{number}", "reaction", ts, edit,
            why="it came after the first failing calls, as somebody's attempt to help",
        )  # fmt: skip
        plot = plot.having(act)
    return plot


TRAP = Trap("reactive_change", compose)
