"""A Service that keeps traffic on the caller's node, where it has no pod."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.traffic import unserved_caller


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
            lost = unserved_caller(snapshot, service)
            if lost is not None:
                yield Finding(
                    self.name,
                    service.id,
                    "critical",
                    f"traffic stays on the caller's node: pod {lost.caller.name} on {lost.node} "
                    f"has no ready pod beside it, {lost.elsewhere} are on other nodes",
                    ("internal_traffic_policy",),
                )


CHECK = LocalTrafficWithoutPods()
