"""A node that is being emptied and holds a pod which its budget never lets go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.overlapping_budgets import budgets_of
from heldout.graph.reading import record
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import is_ready, label_match

_NONE = (0, "0", "0%")


@dataclass(frozen=True, slots=True)
class DrainBlocked:
    """Fires when a cordoned node has a pod whose budget allows no disruption at any time."""

    name: str = "drain-blocked"
    needs: tuple[str, ...] = ("unschedulable", "pod_selector")
    silent_when: str = (
        "the node takes pods (a strict budget alone is a choice); the budget allows a disruption "
        "once other pods are ready; the pod is of a DaemonSet, which drains leave alone"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each node and budget."""
        nodes = {
            (node.cluster, node.name): node
            for node in snapshot.of_kind("Node")
            if snapshot.fact(node.id, "unschedulable") is True
        }
        if not nodes:
            return
        told: set[tuple[str, str]] = set()
        for pod in snapshot.of_kind("Pod"):
            node = nodes.get((pod.cluster, str(snapshot.fact(pod.id, "node"))))
            if node is None or not is_ready(snapshot.facts(pod.id)):
                continue
            if any(one.kind == "DaemonSet" for one in snapshot.out(pod.id, "controlled_by")):
                continue
            for budget in budgets_of(snapshot, pod):
                if (node.id, budget.id) not in told and _never_allows(snapshot, budget):
                    told.add((node.id, budget.id))
                    yield Finding(
                        self.name,
                        node.id,
                        "warning",
                        f"takes no new pods and cannot be emptied: budget {budget.name} never "
                        f"lets pod {pod.name} go",
                        ("unschedulable",),
                    )


def _never_allows(snapshot: Snapshot, budget: Entity) -> bool:
    facts = snapshot.facts(budget.id)
    least, most = facts.get("min_available"), facts.get("max_unavailable")
    if most is not None:
        return most in _NONE
    if least == "100%":
        return True
    selector = record(facts.get("pod_selector"))
    chosen = sum(
        label_match(selector, snapshot.fact(pod.id, "labels"))
        for pod in snapshot.pods_in(snapshot.namespace(budget))
    )
    return isinstance(least, int) and not isinstance(least, bool) and least >= chosen


CHECK = DrainBlocked()
