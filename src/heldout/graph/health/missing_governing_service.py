"""A StatefulSet whose pods are called by name through a Service that is not there."""

from collections.abc import Mapping
from typing import Any

from heldout.graph.health.dangling import MAKERS, UNLISTED, Dangling
from heldout.graph.snapshot import Entity, Snapshot


def _is_called_by_nobody(snapshot: Snapshot, entity: Entity, said: Mapping[str, Any]) -> bool:
    wanted = f"{entity.name}-0.{said.get('name')}"
    return not any(
        wanted in value
        for holder in snapshot.of_kind(*MAKERS)
        if holder.cluster == entity.cluster
        for field, value in snapshot.facts(holder.id).items()
        if field.startswith("env.") and isinstance(value, str)
    )


CHECK = Dangling(
    name="missing-governing-service",
    silent_when=(
        "no setting in the cluster names one of its pods (a StatefulSet without its Service works "
        f"as long as nobody does); the StatefulSet is scaled to zero; {UNLISTED}"
    ),
    kind="K8sService",
    holders=("StatefulSet",),
    text="the names of its pods, which others have in their settings, do not resolve",
    excused=_is_called_by_nobody,
    grade="critical",
)
