"""Who makes which pods, and who is meant to run."""

from __future__ import annotations

from heldout.graph.snapshot import Entity, Snapshot

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
