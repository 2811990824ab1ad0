"""Which workloads a check looks at, and how bad what it finds is."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.graph.ontology import WORKLOADS
from heldout.graph.owners import is_wanted, pods_of
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import is_ready


def wanted(snapshot: Snapshot) -> Iterator[Entity]:
    """Workloads and pods that are meant to run, what makes them before what they make."""
    for entity in snapshot.of_kind(*WORKLOADS, "Pod"):
        if is_wanted(snapshot, entity):
            yield entity


def severity(snapshot: Snapshot, entity: Entity) -> str:
    """``critical`` where a workload or pod lacks ready pods, ``warning`` where it will."""
    facts = snapshot.facts(entity.id)
    if entity.kind == "Pod":
        return "warning" if is_ready(facts) else "critical"
    want, ready = facts.get("replicas"), facts.get("ready_replicas")
    if isinstance(want, int) and isinstance(ready, int):
        return "critical" if ready < want else "warning"
    pods = pods_of(snapshot, entity)
    lacking = any(not is_ready(snapshot.facts(pod.id)) for pod in pods)
    return "critical" if lacking else "warning"
