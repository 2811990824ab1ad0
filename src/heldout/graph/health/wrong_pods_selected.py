"""A Service whose selector picks pods that do not serve its port, beside those that do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.service_without_endpoints import IDENTITY_LABELS
from heldout.graph.reading import rows
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import is_ready, label_match, selected_pods, selects_pods


@dataclass(frozen=True, slots=True)
class WrongPodsSelected:
    """Fires when all selected pods declare ports but not the target's, and others would fit."""

    name: str = "wrong-pods-selected"
    needs: tuple[str, ...] = ("container_ports", "ports")
    silent_when: str = (
        "a selected pod declares the target port, or one declares no port at all (declaring "
        "numbers is optional, so alone it proves nothing); the port is called by name; no ready "
        "pod outside the selector is named like the Service and declares the port"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such Service."""
        for service in snapshot.of_kind("K8sService"):
            selector = snapshot.fact(service.id, "selector")
            wanted = _target_numbers(snapshot, service)
            if not wanted or not selects_pods(selector):
                continue
            chosen = selected_pods(snapshot, service)
            declared = [_declared(snapshot, pod) for pod in chosen]
            if not chosen or not all(declared) or any(ports & wanted for ports in declared):
                continue
            meant = [
                pod
                for pod in snapshot.pods_in(snapshot.namespace(service))
                if _is_named_like(snapshot, service, pod)
                and is_ready(snapshot.facts(pod.id))
                and not label_match(selector, snapshot.fact(pod.id, "labels"))
                and _declared(snapshot, pod) & wanted
            ]
            if meant:
                yield Finding(
                    self.name,
                    service.id,
                    "critical",
                    f"selects {len(chosen)} pods (such as {chosen[0].name}) that do not serve port "
                    f"{min(wanted)}; pod {meant[0].name} does and is not selected",
                    ("selector", "ports"),
                )


def _target_numbers(snapshot: Snapshot, service: Entity) -> set[int]:
    """The numbers that its ports lead to; empty where one is called by name."""
    found: set[int] = set()
    for port in rows(snapshot.fact(service.id, "ports")):
        target = port.get("targetPort", port.get("port"))
        if not isinstance(target, int):
            return set()
        found.add(target)
    return found


def _declared(snapshot: Snapshot, pod: Entity) -> set[Any]:
    said = rows(snapshot.fact(pod.id, "container_ports"))
    return {one["port"] for one in said if isinstance(one.get("port"), int)}


def _is_named_like(snapshot: Snapshot, service: Entity, pod: Entity) -> bool:
    labels = snapshot.fact(pod.id, "labels")
    return isinstance(labels, dict) and service.name in [labels.get(key) for key in IDENTITY_LABELS]


CHECK = WrongPodsSelected()
