"""A workload that declares no memory in a namespace whose quota demands it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.snapshot import Entity, Snapshot

_DEMANDS = (
    ("requests.memory", "memory_request"),
    ("memory", "memory_request"),
    ("limits.memory", "memory_limit"),
)
_MAKERS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")


@dataclass(frozen=True, slots=True)
class UndeclaredMemory:
    """Fires when the next pod of a workload would be refused by the namespace's quota."""

    name: str = "undeclared-memory"
    silent_when: str = (
        "the quota counts no memory; a LimitRange of the namespace fills in a default; a limit is "
        "declared where only a request is demanded (it becomes the request); the workload is "
        "scaled to zero; what the workload declares was not observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each workload that a quota would refuse."""
        for quota in snapshot.of_kind("ResourceQuota"):
            hard = snapshot.fact(quota.id, "hard")
            if not isinstance(hard, Mapping):
                continue
            place = snapshot.namespace(quota)
            if any(_defaults(snapshot, one) for one in _limit_ranges(snapshot, place)):
                continue
            for workload in snapshot.of_kind(*_MAKERS):
                if snapshot.namespace(workload) == place:
                    yield from self._refused(snapshot, quota, hard, workload)

    def _refused(
        self, snapshot: Snapshot, quota: Entity, hard: Mapping[str, object], workload: Entity
    ) -> Iterable[Finding]:
        facts = snapshot.facts(workload.id)
        if facts.get("replicas") == 0:
            return
        for demand, field in _DEMANDS:
            if demand not in hard or field not in facts or facts[field]:
                continue
            if field == "memory_request" and facts.get("memory_limit"):
                continue
            yield Finding(
                self.name,
                workload.id,
                "critical",
                f"quota {quota.name} demands {demand} and the pod template declares none: new "
                "pods are refused",
                (field,),
            )
            return


def _limit_ranges(snapshot: Snapshot, place: tuple[str, str]) -> list[Entity]:
    return [one for one in snapshot.of_kind("LimitRange") if snapshot.namespace(one) == place]


def _defaults(snapshot: Snapshot, limit_range: Entity) -> bool:
    facts = snapshot.facts(limit_range.id)
    return bool(facts.get("default_memory") or facts.get("default_request_memory"))


CHECK = UndeclaredMemory()
