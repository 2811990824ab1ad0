"""A pod that requests more than any node has, full or empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.placement import requests_of, suits, waiting
from heldout.graph.health.reading import record
from heldout.graph.quantities import amount
from heldout.graph.snapshot import Snapshot


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
            fit = [known for node, known in nodes
                   if suits(facts.get("node_affinity"), node, known)]  # fmt: skip
            for resource in ("cpu", "memory"):
                asked = _asked(facts, resource)
                room = [amount(record(one.get("allocatable")).get(resource)) for one in fit]
                most = [one for one in room if one is not None]
                if room and len(most) == len(room) and asked > max(most):
                    yield Finding(
                        self.name,
                        pod.id,
                        "critical",
                        f"Pending: its containers request more {resource} than any of {len(room)} "
                        "nodes that fit has, even empty",
                        ("container_resources", "phase"),
                    )


def _asked(facts: Mapping[str, Any], resource: str) -> float:
    return sum(amount(one.get(resource)) or 0.0 for one in requests_of(facts))


CHECK = RequestBeyondNodes()
