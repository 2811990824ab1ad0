"""Whether a node is ready, cordoned, or short of something."""

from __future__ import annotations

from heldout.graph.reading import texts
from heldout.graph.status.rule import Facts, Rule


def _tells(facts: Facts) -> str | None:
    pressures = ", ".join(texts(facts.get("pressures")))
    if facts.get("ready") is False:
        state = "NotReady"
    elif facts.get("ready") is not True:
        return None
    else:
        state = "Ready, cordoned" if facts.get("unschedulable") is True else "Ready"
    return f"{state}, {pressures}" if pressures else state


RULE = Rule(
    "nodes",
    ("Node",),
    "Node status: the Ready condition (Unknown is not ready), spec.unschedulable, and the standard "
    "pressure conditions; others have no polarity that is known",
    tells=_tells,
)
