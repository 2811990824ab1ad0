"""A pod that requests more than any node has, full or empty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.placement import waiting
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.scheduling import beyond, suits


@dataclass(frozen=True, slots=True)
class RequestBeyondNodes:
    """Fires when an unschedulable pod's request exceeds what each node that fits can allocate."""

    name: str = "request-beyond-nodes"
    needs: tuple[str, ...] = ("unschedulable", "allocatable")
    silent_when: str = (
        "an empty node could take the pod (it waits for room, which an autoscaler may make); what "
        "a node can allocate was not observed; the scheduler did not say that the pod cannot be "
        "placed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each pod and resource."""
        for pod, facts, nodes in waiting(snapshot):
            fit = [one for one in nodes if suits(facts.get("node_affinity"), *one)]
            for resource in ("cpu", "memory"):
                if beyond(facts, fit, resource):
                    yield Finding(
                        self.name,
                        pod.id,
                        "critical",
                        f"Pending: its containers request more {resource} than any of {len(fit)} "
                        "nodes that fit has, even empty",
                        ("container_resources", "phase"),
                    )


CHECK = RequestBeyondNodes()
