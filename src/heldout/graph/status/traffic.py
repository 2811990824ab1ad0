"""A Service that keeps traffic on a node where it has no ready pod."""

from __future__ import annotations

from typing import NamedTuple

from heldout.graph.owners import pods_of
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.endpoints import is_ready, selected_pods
from heldout.graph.status.rule import Rule, counted


class Unserved(NamedTuple):
    """A caller on a node without a ready pod, and how many pods are ready elsewhere."""

    caller: Entity
    node: str
    elsewhere: int


def node_of(snapshot: Snapshot, pod: Entity) -> str | None:
    """The node that a pod was recorded with."""
    node = snapshot.fact(pod.id, "node")
    return node if isinstance(node, str) and node else None


def _served(snapshot: Snapshot, service: Entity) -> tuple[set[str], int]:
    """Nodes with a ready pod, and how many pods; none where the node of one is unknown."""
    ready = [one for one in selected_pods(snapshot, service) if is_ready(snapshot.facts(one.id))]
    nodes = {node_of(snapshot, pod) for pod in ready}
    return (set(), 0) if None in nodes else ({one for one in nodes if one}, len(ready))


def unserved_caller(snapshot: Snapshot, service: Entity) -> Unserved | None:
    """The first known caller that a node-local Service leaves without a pod."""
    if snapshot.fact(service.id, "internal_traffic_policy") != "Local":
        return None
    served, count = _served(snapshot, service)
    if not served:
        return None
    for caller in _callers(snapshot, service):
        node = node_of(snapshot, caller)
        if node is not None and node not in served:
            return Unserved(caller, node, count)
    return None


def _callers(snapshot: Snapshot, service: Entity) -> list[Entity]:
    """Running pods of the applications that call it."""
    called = [service, *(one for one in snapshot.into(service.id, "routes_to")
                         if one.kind == "Service")]  # fmt: skip
    found = {
        pod
        for one in called
        for front in snapshot.into(one.id, "calls")
        for workload in snapshot.out(front.id, "runs_on")
        for pod in pods_of(snapshot, workload)
        if snapshot.fact(pod.id, "phase") == "Running"
    }
    return sorted(found, key=lambda one: (one.name, one.id))


def _sees(snapshot: Snapshot, service: Entity) -> str | None:
    facts = snapshot.facts(service.id)
    inside = facts.get("internal_traffic_policy") == "Local"
    outside = facts.get("external_traffic_policy") == "Local"
    if not inside and not outside:
        return None
    lost = unserved_caller(snapshot, service)
    if lost is not None:
        return (
            f"{lost.elsewhere} ready endpoints, none on node {lost.node} of its caller "
            f"{lost.caller.name} (traffic stays on the node)"
        )
    served, count = _served(snapshot, service)
    nodes = {one.name for one in snapshot.of_kind("Node") if one.cluster == service.cluster}
    if outside and served and served < nodes:
        return (
            f"{count} ready endpoints, on {len(served)} of {counted(len(nodes), 'node')} "
            "(others answer nobody from outside)"
        )
    return None


RULE = Rule(
    "traffic",
    ("K8sService",),
    "kube-proxy: internalTrafficPolicy Local drops traffic of a node without a ready endpoint "
    "(KEP-2086); externalTrafficPolicy Local answers from outside only on nodes that have one",
    sees=_sees,
)
