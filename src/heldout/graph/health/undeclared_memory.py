"""A workload that declares no memory in a namespace whose quota demands it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.quota import has_defaults, refused_by_quota

_MAKERS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")


@dataclass(frozen=True, slots=True)
class UndeclaredMemory:
    """Fires when the next pod of a workload would be refused by the namespace's quota."""

    name: str = "undeclared-memory"
    needs: tuple[str, ...] = ("hard",)
    silent_when: str = (
        "the quota counts no memory, or only that of some pods; a LimitRange of the namespace "
        "fills in a default; a limit is declared where only a request is demanded (it becomes the "
        "request); the workload is scaled to zero; what the workload declares was not observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each workload that a quota would refuse."""
        for quota in snapshot.of_kind("ResourceQuota"):
            hard = snapshot.fact(quota.id, "hard")
            if snapshot.fact(quota.id, "scopes"):
                continue
            place = snapshot.namespace(quota)
            defaults = has_defaults(snapshot, place)
            makers = [one for kind in _MAKERS for one in snapshot.in_place(kind, place)]
            for workload in makers:
                facts = snapshot.facts(workload.id)
                demand = refused_by_quota(facts, hard, has_defaults=defaults)
                if demand is not None:
                    yield Finding(
                        self.name,
                        workload.id,
                        "critical",
                        f"quota {quota.name} demands {demand} and the pod template declares "
                        "none: new pods are refused",
                        ("memory_limit" if "limits" in demand else "memory_request",),
                    )


CHECK = UndeclaredMemory()
