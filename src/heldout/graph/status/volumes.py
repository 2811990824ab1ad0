"""Whether a claim has a volume, and who keeps whom from it."""

from __future__ import annotations

from heldout.graph.reading import is_listed, rows
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.rule import Facts, Rule, said

_SINGLE = (["ReadWriteOnce"], ["ReadWriteOncePod"])
_STARTING = "ContainerCreating"


def rivals(snapshot: Snapshot, claim: Entity) -> tuple[Entity, Entity] | None:
    """A running pod that holds a single-writer claim and a waiting one that it keeps from it."""
    modes = snapshot.fact(claim.id, "access_modes")
    if modes not in _SINGLE:
        return None
    pods = [one for one in snapshot.into(claim.id, "mounts") if one.kind == "Pod"]
    for holder in _in_phase(snapshot, pods, "Running"):
        for waiter in _in_phase(snapshot, pods, "Pending"):
            if keeps_from(snapshot, claim, holder, waiter):
                return holder, waiter
    return None


def keeps_from(snapshot: Snapshot, claim: Entity, holder: Entity, waiter: Entity) -> bool:
    """Whether a holder keeps a waiter from a single-writer claim: on one node two may share it."""
    per_pod = snapshot.fact(claim.id, "access_modes") != ["ReadWriteOnce"]
    return per_pod or not _same_node(snapshot, holder, waiter)


def _in_phase(snapshot: Snapshot, pods: list[Entity], phase: str) -> list[Entity]:
    found = {pod for pod in pods if snapshot.fact(pod.id, "phase") == phase}
    return sorted(found, key=lambda one: (one.name, one.id))


def _same_node(snapshot: Snapshot, one: Entity, other: Entity) -> bool:
    node = snapshot.fact(one.id, "node")
    return bool(node) and node == snapshot.fact(other.id, "node")


def _tells(facts: Facts) -> str | None:
    return "Lost: its volume is gone" if facts.get("phase") == "Lost" else None


def _sees(snapshot: Snapshot, claim: Entity) -> str | None:
    phase = snapshot.fact(claim.id, "phase")
    if phase == "Bound":
        pair = rivals(snapshot, claim)
        return f"Bound, held by {pair[0].name} while {pair[1].name} waits" if pair else None
    return _unbound(snapshot, claim) if phase == "Pending" else None


def _unbound(snapshot: Snapshot, claim: Entity) -> str | None:
    named = [said(one.get("name")) for one in rows(snapshot.fact(claim.id, "references"))
             if one.get("kind") == "StorageClass"]  # fmt: skip
    if not named or not named[0]:
        return None
    store = snapshot.named("StorageClass", (claim.cluster, ""), named[0])
    if store is None:
        missing = is_listed(snapshot, "StorageClass", (claim.cluster, ""))
        return f"Pending: StorageClass {named[0]} is not there" if missing else None
    if snapshot.fact(store.id, "volumeBindingMode") == "WaitForFirstConsumer":
        return f"Pending: StorageClass {named[0]} binds with the first pod that is scheduled"
    return None


def _waits(snapshot: Snapshot, pod: Entity) -> str | None:
    facts = snapshot.facts(pod.id)
    if facts.get("phase") != "Pending" or said(facts.get("reason")) not in ("", _STARTING):
        return None
    for claim in snapshot.out(pod.id, "mounts"):
        pair = rivals(snapshot, claim) if claim.kind == "Pvc" else None
        if pair is None or not keeps_from(snapshot, claim, pair[0], pod):
            continue
        # A pod without a node may still come to the one that has the volume.
        if facts.get("node") or snapshot.fact(claim.id, "access_modes") == ["ReadWriteOncePod"]:
            return f"Pending: claim {claim.name} is held by {pair[0].name}"
    return None


POD = Rule(
    "attachment",
    ("Pod",),
    "attach-detach controller and kubelet: a ReadWriteOnce volume is attached to one node at a "
    "time (Multi-Attach error), a ReadWriteOncePod one is used by one pod",
    sees=_waits,
)

RULE = Rule(
    "volumes",
    ("Pvc",),
    "PersistentVolumeClaim phases Pending, Bound and Lost; volumeBindingMode; ReadWriteOnce allows "
    "one node, ReadWriteOncePod one pod (multi-attach)",
    tells=_tells,
    sees=_sees,
)
