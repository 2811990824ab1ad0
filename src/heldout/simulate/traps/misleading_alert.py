"""The alert names a victim hops away and carries a note that points at an innocent neighbour."""

from __future__ import annotations

import re
from dataclasses import replace

from heldout.errors import SpecError
from heldout.simulate.ground import DEPENDS
from heldout.simulate.plot import Plot, upstream
from heldout.simulate.trap import Trap

_NOTES = (
    "Note on the rule: the last pages of this kind came from {name}; look there first.",
    "Added by the paging bot: {name} looks related, its owners were called twice this month.",
    "Related: {name} (busy for some days).",
    "Runbook: check {name} before anything else, most pages of this rule start there.",
    "First comment: isn't this {name} again? Same picture as the last time.",
    "Similar pages of this quarter were closed with '{name} was slow'.",
)


def compose(plot: Plot) -> Plot:
    """Put a note under the alert that names something the victim uses and that is well."""
    ground, binding = plot.land.ground, plot.binding
    if binding.victim == binding.seat and binding.fault.cause != "false_alarm":
        raise SpecError(
            "trap 'misleading_alert' needs a victim away from the seat",
            where="spec.knobs.hops",
            mend="Choose 1 to 4",
        )
    reached = {*upstream(ground, binding.seat), *binding.path, binding.seat, binding.holder}
    told = _words(ground.name(binding.seat)) | _words(ground.name(binding.holder))
    used = [dst for predicate, dst in ground.out(binding.victim) if predicate in DEPENDS]
    beyond = [dst for one in used for predicate, dst in ground.out(one) if predicate in DEPENDS]
    cluster = ground.entities[binding.victim].cluster
    nearby = [s.service for s in plot.land.sites if s.cluster == cluster]
    for pool in (used, beyond, nearby):
        well = [one for one in dict.fromkeys(pool)
                if one not in reached and not _words(ground.name(one)) & told]  # fmt: skip
        if well:
            rng = plot.rng("misleading")
            name = ground.name(well[int(rng.integers(len(well)))])
            note = _NOTES[int(rng.integers(len(_NOTES)))]
            return replace(plot, hint=note.replace("{name}", name))
    return plot


def _words(name: str) -> set[str]:
    return set(re.split("[^a-z0-9]+", name.lower()))


TRAP = Trap("misleading_alert", compose)
