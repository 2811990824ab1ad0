"""The very field was changed on an innocent sibling and put back before onset."""

from __future__ import annotations

from heldout.simulate.catalog import COUNTERS, VERSIONED
from heldout.simulate.dressing import other_edit
from heldout.simulate.ground import Edit
from heldout.simulate.plot import Act, Plot, office_moment
from heldout.simulate.rhythm import HOUR, MINUTE
from heldout.simulate.trap import Trap, around


def _twin(plot: Plot) -> Edit | None:
    """The cause's own edit on a sibling, or an ordinary one where the field cannot go back."""
    ground, binding = plot.land.ground, plot.binding
    taken = plot.protected()
    rng = plot.rng("twin")
    touched = {edit.entity for act in plot.acts if act.role != "noise" for edit in act.edits}
    kind = ground.entities[binding.holder].kind
    own = [ground.walk(service, binding.fault.holder)[-1:] for service in binding.path]
    pools = (
        ground.siblings(binding.holder), [one for end in own for one in end],
        ground.of_kind(kind),
    )  # fmt: skip
    plain = not binding.field or {binding.fault.field, binding.field} & {*COUNTERS, *VERSIONED}
    if not plain:
        for pool in pools:
            free = [one for one in pool if one not in touched and one != binding.holder
                    and ground.entities[one].kind == kind]  # fmt: skip
            if free:
                entity = free[int(rng.integers(len(free)))]
                return Edit(entity, binding.field, binding.new, binding.old)
    draw = float(rng.random())
    for entity in [one for pool in (*pools, around(plot)) for one in pool]:
        names = [field for at, field in taken if at == entity]
        if entity not in touched and entity != binding.holder:
            edit = other_edit(plot.land, entity, draw, names)
            if edit is not None:
                return edit
    return None


def compose(plot: Plot) -> Plot:
    """Add the change some hours before onset and its reversal an hour or less before it."""
    there = _twin(plot)
    if there is None:
        return plot
    rng = plot.rng("twin", "times")
    back = plot.onset - int(rng.integers(12, 55)) * MINUTE
    latest = back - 20 * MINUTE
    ts = office_moment(plot, "twin", latest - 2 * HOUR, latest - 5 * HOUR, latest)
    again = there._replace(value=there.other, other=there.value)
    why = "it was on another entity and was taken back before anything failed"
    return plot.having(
        Act("twin", "twin", ts, there, why=why),
        Act("twin/back", "revert", back, again, why="it only restored what had been there before"),
    )


TRAP = Trap("reverted_twin", compose)
