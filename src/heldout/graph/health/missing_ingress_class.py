"""An Ingress of a class that is not there, so that no controller serves it."""

from collections.abc import Mapping
from typing import Any

from heldout.graph.health.dangling import UNLISTED, Dangling
from heldout.graph.snapshot import Entity, Snapshot


def _is_served(snapshot: Snapshot, entity: Entity, said: Mapping[str, Any]) -> bool:
    return bool(snapshot.fact(entity.id, "is_served"))


CHECK = Dangling(
    name="missing-ingress-class",
    silent_when=(
        "the class is only an annotation (controllers match it as a word); the Ingress has an "
        f"address, so that something serves it; {UNLISTED}"
    ),
    kind="IngressClass",
    holders=("Ingress",),
    text="no controller serves it",
    excused=_is_served,
    grade="critical",
)
