"""A NetworkPolicy that cuts a pod off from traffic that is known to be wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import label_match


@dataclass(frozen=True, slots=True)
class DenyingPolicy:
    """Fires when a policy without rules selects a pod whose application has a known caller."""

    name: str = "denying-policy"
    needs: tuple[str, ...] = ("pod_selector",)
    silent_when: str = (
        "another policy that selects the pod has a rule for the same direction (deny by default "
        "with allows is good practice); the policy does not list the direction; nothing is known "
        "to call the pod's application, or for egress, it is not known to call anything"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each policy and direction that cuts off known traffic."""
        policies = snapshot.of_kind("NetworkPolicy")
        for policy in policies:
            for direction in ("Ingress", "Egress"):
                if _covers(snapshot, policy, direction) and not _rules(snapshot, policy, direction):
                    yield from self._cut_off(snapshot, policies, policy, direction)

    def _cut_off(
        self, snapshot: Snapshot, policies: list[Entity], policy: Entity, direction: str
    ) -> Iterable[Finding]:
        place = snapshot.namespace(policy)
        for pod in snapshot.pods_in(place):
            if not _selects(snapshot, policy, pod) or any(
                _selects(snapshot, other, pod)
                and _covers(snapshot, other, direction)
                and _rules(snapshot, other, direction)
                for other in policies
                if snapshot.namespace(other) == place
            ):
                continue
            peers = _peers(snapshot, pod, direction)
            if peers:
                word = "called by" if direction == "Ingress" else "which calls"
                yield Finding(
                    self.name,
                    policy.id,
                    "critical",
                    f"denies all {direction.lower()} of pod {pod.name}, {word} {peers[0].name}; "
                    "no other policy allows any",
                    ("policy_types", direction.lower(), "pod_selector"),
                )
                return


def _covers(snapshot: Snapshot, policy: Entity, direction: str) -> bool:
    types = snapshot.fact(policy.id, "policy_types")
    if isinstance(types, list) and types:
        return direction in types
    return "pod_selector" in snapshot.facts(policy.id) and direction == "Ingress"


def _rules(snapshot: Snapshot, policy: Entity, direction: str) -> bool:
    return bool(snapshot.fact(policy.id, direction.lower()))


def _selects(snapshot: Snapshot, policy: Entity, pod: Entity) -> bool:
    selector = snapshot.fact(policy.id, "pod_selector")
    return isinstance(selector, Mapping) and label_match(selector, snapshot.fact(pod.id, "labels"))


def _peers(snapshot: Snapshot, pod: Entity, direction: str) -> list[Entity]:
    """Applications that call the pod's own application, or that it calls."""
    own = {pod.id}
    edge = [pod]
    for _ in range(3):
        edge = [
            owner
            for one in edge
            for owner in (
                *snapshot.out(one.id, "controlled_by"),
                *(front for front in snapshot.into(one.id, "runs_on") if front.kind == "Service"),
            )
            if owner.id not in own
        ]
        own.update(owner.id for owner in edge)
    found = {
        peer
        for one in own
        for peer in (
            snapshot.into(one, "calls")
            if direction == "Ingress"
            else snapshot.out(one, "calls", "reads_writes")
        )
        if peer.id not in own
    }
    return sorted(found, key=lambda one: (one.name, one.id))


CHECK = DenyingPolicy()
