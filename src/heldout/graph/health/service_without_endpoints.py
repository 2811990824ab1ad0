"""A Service whose selector misses the ready pods that it is meant for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.ontology import WORKLOADS
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import is_ready, label_match, selected_pods, selects_pods

IDENTITY_LABELS = (
    "app", "app.kubernetes.io/name", "app.kubernetes.io/instance", "k8s-app", "name",
)  # fmt: skip
"""Labels that name an application; shared tier or team labels say nothing of intent."""


@dataclass(frozen=True, slots=True)
class ServiceWithoutEndpoints:
    """Fires when no pod matches although ready pods of the same application stand beside it."""

    name: str = "service-without-endpoints"
    needs: tuple[str, ...] = ("selector",)
    silent_when: str = (
        "the Service has no selector or is an ExternalName (endpoints are kept elsewhere); a pod "
        "matches but is not ready (that is the pod's trouble); a workload's template matches (it "
        "is scaled to zero or rolling out); no ready pod names the same application (pods that an "
        "operator makes, or none at all)"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such Service."""
        for service in snapshot.of_kind("K8sService"):
            facts = snapshot.facts(service.id)
            selector = facts.get("selector")
            if not selects_pods(selector) or facts.get("type") == "ExternalName":
                continue
            if selected_pods(snapshot, service) or _template_matches(snapshot, service):
                continue
            meant = [
                pod
                for pod in snapshot.pods_in(snapshot.namespace(service))
                if is_ready(snapshot.facts(pod.id)) and _same_application(snapshot, service, pod)
            ]
            if meant:
                yield Finding(
                    self.name,
                    service.id,
                    "critical",
                    f"0 ready endpoints: the selector matches none of {len(meant)} ready pods "
                    f"of the same application (such as {meant[0].name})",
                    ("selector",),
                )


def _template_matches(snapshot: Snapshot, service: Entity) -> bool:
    selector = snapshot.fact(service.id, "selector")
    place = snapshot.namespace(service)
    return any(
        label_match(selector, snapshot.fact(workload.id, "pod_labels"))
        for kind in WORKLOADS
        for workload in snapshot.in_place(kind, place)
    )


def _same_application(snapshot: Snapshot, service: Entity, pod: Entity) -> bool:
    selector = snapshot.fact(service.id, "selector")
    labels = snapshot.fact(pod.id, "labels")
    if not isinstance(labels, Mapping) or not isinstance(selector, Mapping):
        return False
    for key in IDENTITY_LABELS:
        if key in labels and labels[key] in (selector.get(key), service.name):
            return True
    return any(
        owner in _owners(snapshot, pod)
        for front in snapshot.into(service.id, "routes_to")
        if front.kind == "Service"
        for owner in snapshot.out(front.id, "runs_on")
    )


def _owners(snapshot: Snapshot, pod: Entity) -> list[Entity]:
    owners = snapshot.out(pod.id, "controlled_by")
    return owners + [above for owner in owners for above in snapshot.out(owner.id, "controlled_by")]


CHECK = ServiceWithoutEndpoints()
