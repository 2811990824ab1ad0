"""A Service that keeps traffic on the caller's node, where it has no pod."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.owners import pods_of
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import is_ready, selected_pods


@dataclass(frozen=True, slots=True)
class LocalTrafficWithoutPods:
    """Fires when a known caller runs on a node without a ready pod of a node-local Service."""

    name: str = "local-traffic-without-pods"
    needs: tuple[str, ...] = ("internal_traffic_policy", "node")
    silent_when: str = (
        "the policy is Cluster; every node with a known caller has a ready pod; no caller is "
        "known; the Service has no ready pod anywhere (that is another trouble); the nodes of its "
        "pods were not recorded with them (field node)"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such Service."""
        for service in snapshot.of_kind("K8sService"):
            if snapshot.fact(service.id, "internal_traffic_policy") != "Local":
                continue
            ready = [
                pod for pod in selected_pods(snapshot, service) if is_ready(snapshot.facts(pod.id))
            ]
            served = {_node(snapshot, pod) for pod in ready}
            if not served or None in served:
                continue
            for caller in _callers(snapshot, service):
                node = _node(snapshot, caller)
                if node is not None and node not in served:
                    yield Finding(
                        self.name,
                        service.id,
                        "critical",
                        f"traffic stays on the caller's node: pod {caller.name} on {node} has no "
                        f"ready pod beside it, {len(ready)} are on other nodes",
                        ("internal_traffic_policy",),
                    )
                    break


def _node(snapshot: Snapshot, pod: Entity) -> str | None:
    node = snapshot.fact(pod.id, "node")
    return node if isinstance(node, str) and node else None


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


CHECK = LocalTrafficWithoutPods()
