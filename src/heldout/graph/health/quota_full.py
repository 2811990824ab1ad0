"""A workload that gets no further pod because its namespace's quota is used up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.reading import record
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.quota import exceeded
from heldout.graph.status.rollout import lacks_pods

_MAKERS = ("ReplicaSet", "StatefulSet")


@dataclass(frozen=True, slots=True)
class QuotaFull:
    """Fires when a workload lacks pods and its next one would exceed what is left of a quota."""

    name: str = "quota-full"
    needs: tuple[str, ...] = ("used", "made_replicas")
    silent_when: str = (
        "the quota is used up and every workload has all its pods (that is what a quota is for); "
        "what is used, or how many pods were made, was not observed; the quota has scopes of its "
        "own or room for one more pod"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each workload and quota."""
        for quota in snapshot.of_kind("ResourceQuota"):
            facts = snapshot.facts(quota.id)
            used = record(facts.get("used"))
            if not used or facts.get("scopes"):
                continue
            place = snapshot.namespace(quota)
            for kind in _MAKERS:
                for maker in snapshot.in_place(kind, place):
                    known = snapshot.facts(maker.id)
                    demand = exceeded(known, facts.get("hard"), used)
                    if demand and lacks_pods(known):
                        yield Finding(
                            self.name,
                            maker.id,
                            "critical",
                            f"has {known['made_replicas']} of {known['replicas']} pods: quota "
                            f"{quota.name} has {used.get(demand)} of {demand} in use and allows "
                            f"{record(facts.get('hard')).get(demand)}",
                            ("replicas",),
                        )


CHECK = QuotaFull()
