"""A workload that gets no further pod because its namespace's quota is used up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.placement import requests_of
from heldout.graph.health.reading import record
from heldout.graph.quantities import amount
from heldout.graph.snapshot import Snapshot

_MAKERS = ("ReplicaSet", "StatefulSet")
_COUNTED = {"pods": "", "count/pods": "", "requests.cpu": "cpu", "cpu": "cpu",
            "requests.memory": "memory", "memory": "memory"}  # fmt: skip
"""Demands of a quota and what a pod adds to them; empty: one."""


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
                    demand = _exceeded(known, record(facts.get("hard")), used)
                    if demand and _lacks_pods(known):
                        yield Finding(
                            self.name,
                            maker.id,
                            "critical",
                            f"has {known['made_replicas']} of {known['replicas']} pods: quota "
                            f"{quota.name} has {used.get(demand)} of {demand} in use and allows "
                            f"{record(facts.get('hard')).get(demand)}",
                            ("replicas",),
                        )


def _lacks_pods(facts: Mapping[str, Any]) -> bool:
    want, made = facts.get("replicas"), facts.get("made_replicas")
    return isinstance(want, int) and isinstance(made, int) and made < want


def _exceeded(
    facts: Mapping[str, Any], hard: Mapping[str, Any], used: Mapping[str, Any]
) -> str | None:
    for demand, resource in _COUNTED.items():
        most, now = amount(hard.get(demand)), amount(used.get(demand))
        if most is None or now is None:
            continue
        asked = 1.0
        if resource:
            asked = sum(amount(one.get(resource)) or 0.0 for one in requests_of(facts))
        if asked > 0 and now + asked > most:
            return demand
    return None


CHECK = QuotaFull()
