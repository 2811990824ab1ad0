"""A pod that waits for a node which its required affinity describes and no node is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.placement import waiting
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.scheduling import suits


@dataclass(frozen=True, slots=True)
class UnsatisfiableAffinity:
    """Fires when no node that fits an unschedulable pod's selector satisfies its affinity."""

    name: str = "unsatisfiable-affinity"
    needs: tuple[str, ...] = ("unschedulable", "node_affinity")
    silent_when: str = (
        "the affinity is only preferred, or compares numbers; a node satisfies it (the pod waits "
        "for something else); the scheduler did not say that the pod cannot be placed; no node "
        "was observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such pod."""
        for pod, facts, nodes in waiting(snapshot):
            terms = facts.get("node_affinity")
            if nodes and not any(suits(terms, *one) for one in nodes):
                yield Finding(
                    self.name,
                    pod.id,
                    "critical",
                    f"Pending: none of {len(nodes)} nodes satisfies its required node affinity",
                    ("node_affinity", "phase"),
                )


CHECK = UnsatisfiableAffinity()
