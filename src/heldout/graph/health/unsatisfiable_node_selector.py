"""A pod that waits for a node with labels that no node has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.scheduling import labelled, schedulable_on


@dataclass(frozen=True, slots=True)
class UnsatisfiableNodeSelector:
    """Fires when a Pending pod's ``nodeSelector`` fits no node of its cluster."""

    name: str = "unsatisfiable-node-selector"
    needs: tuple[str, ...] = ("node_selector",)
    silent_when: str = (
        "the pod is not Pending or is already bound to a node; it has no nodeSelector; a node "
        "fits (it may wait for capacity); the labels of the cluster's nodes were not observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such pod."""
        nodes = [(node, snapshot.facts(node.id)) for node in snapshot.of_kind("Node")]
        for pod in snapshot.of_kind("Pod"):
            facts = snapshot.facts(pod.id)
            selector = facts.get("node_selector")
            if facts.get("phase") != "Pending" or facts.get("node") or not selector:
                continue
            near = labelled(one for one in nodes if one[0].cluster == pod.cluster)
            if near and not schedulable_on(selector, near):
                yield Finding(
                    self.name,
                    pod.id,
                    "critical",
                    f"Pending: none of {len(near)} nodes has the labels of its nodeSelector",
                    ("node_selector", "phase"),
                )


CHECK = UnsatisfiableNodeSelector()
