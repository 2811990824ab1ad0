"""A PriorityClass that pods name and that is not there."""

from collections.abc import Mapping
from typing import Any

from heldout.graph.health.dangling import MAKERS, UNLISTED, Dangling
from heldout.graph.snapshot import Entity, Snapshot


def _is_built_in(snapshot: Snapshot, entity: Entity, said: Mapping[str, Any]) -> bool:
    return str(said.get("name")).startswith("system-")


CHECK = Dangling(
    name="missing-priority-class",
    silent_when=(
        "it is one of those that every cluster has (system-...); the holder is scaled to zero, "
        f"suspended or has ended; {UNLISTED}"
    ),
    kind="PriorityClass",
    holders=MAKERS,
    text="its pods are refused",
    excused=_is_built_in,
)
