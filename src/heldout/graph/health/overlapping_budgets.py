"""A pod that two disruption budgets select, so that it can never be evicted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from heldout.graph.health import Finding
from heldout.graph.owners import ENDED
from heldout.graph.reading import record
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import label_match


@dataclass(frozen=True, slots=True)
class OverlappingBudgets:
    """Fires when two PodDisruptionBudgets select one pod; the eviction API refuses that."""

    name: str = "overlapping-budgets"
    needs: tuple[str, ...] = ("pod_selector",)
    silent_when: str = (
        "the budgets select different pods or are in different namespaces; a budget without a "
        "selector selects nothing"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each pair of budgets, told of the one that comes later by name."""
        told: set[tuple[str, str]] = set()
        for pod in snapshot.of_kind("Pod"):
            if snapshot.fact(pod.id, "phase") in ENDED:
                continue
            found = budgets_of(snapshot, pod)
            for one, other in pairwise(found):
                if (one.id, other.id) not in told:
                    told.add((one.id, other.id))
                    yield Finding(
                        self.name,
                        other.id,
                        "warning",
                        f"selects pod {pod.name}, as {one.name} does: with two budgets a pod is "
                        "never evicted, and a drain of its node does not end",
                        ("pod_selector",),
                    )


def budgets_of(snapshot: Snapshot, pod: Entity) -> list[Entity]:
    """The budgets that select a pod, by name."""
    budgets = snapshot.in_place("Pdb", snapshot.namespace(pod))
    return [
        budget
        for budget in budgets
        if (selector := record(snapshot.fact(budget.id, "pod_selector")))
        and label_match(selector, snapshot.fact(pod.id, "labels"))
    ]


CHECK = OverlappingBudgets()
