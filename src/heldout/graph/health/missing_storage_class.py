"""A claim that waits for a StorageClass that is not there."""

from collections.abc import Mapping
from typing import Any

from heldout.graph.health.dangling import UNLISTED, Dangling
from heldout.graph.snapshot import Entity, Snapshot


def _needs_none(snapshot: Snapshot, entity: Entity, said: Mapping[str, Any]) -> bool:
    if snapshot.fact(entity.id, "phase") != "Pending":
        return True
    return any(
        snapshot.fact(one.id, "storage_class") == said.get("name")
        for one in snapshot.of_kind("PersistentVolume")
        if one.cluster == entity.cluster
    )


CHECK = Dangling(
    name="missing-storage-class",
    silent_when=(
        "the claim is bound, or its phase is not known (a class may be a mere word that joins a "
        f"claim to a volume made by hand); a volume of that class is there; {UNLISTED}"
    ),
    kind="StorageClass",
    holders=("Pvc",),
    text="nothing makes a volume for the claim",
    excused=_needs_none,
    grade="critical",
)
