"""Who makes which pods, and whether they are well."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.graph.ontology import WORKLOADS
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import is_ready

ENDED = ("Succeeded", "Failed")
_ENDED_JOBS = ("Complete", "Failed")


def owners(snapshot: Snapshot, entity: Entity) -> list[Entity]:
    """What controls an entity, and what controls that, nearest first."""
    first = snapshot.out(entity.id, "controlled_by")
    return first + [above for one in first for above in snapshot.out(one.id, "controlled_by")]


def pods_of(snapshot: Snapshot, workload: Entity) -> list[Entity]:
    """The pods that a workload controls, itself or through what it controls."""
    first = snapshot.into(workload.id, "controlled_by")
    every = first + [below for one in first for below in snapshot.into(one.id, "controlled_by")]
    return [one for one in every if one.kind == "Pod"]


def is_wanted(snapshot: Snapshot, entity: Entity) -> bool:
    """Whether a workload or pod is meant to run, now or when its time comes."""
    facts = snapshot.facts(entity.id)
    if entity.kind == "Pod":
        return facts.get("phase") not in ENDED
    if entity.kind == "Job":
        return facts.get("status") not in _ENDED_JOBS
    if entity.kind == "CronJob":
        return facts.get("suspend") is not True
    return facts.get("replicas") != 0


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
