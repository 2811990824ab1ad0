"""How many ready endpoints stand behind a Service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.labels import label_match
from heldout.graph.status.rule import Facts, Rule, said, whole


def selects_pods(selector: Any) -> bool:
    """Whether a Service selector picks any pod at all: without one, endpoints are kept by hand."""
    return isinstance(selector, Mapping) and bool(selector)


def readiness(facts: Facts) -> bool | None:
    """Whether a pod takes traffic; ``None`` where its phase or readiness is not known.

    A pod that is being deleted takes none, whatever its last condition says.
    """
    if said(facts.get("deleting_since")):
        return False
    phase, ready = facts.get("phase"), facts.get("ready")
    if phase in ("Pending", "Succeeded", "Failed"):
        return False
    # Of a pod whose node is silent the phase is Unknown, and the condition is what counts.
    if phase not in ("Running", "Unknown"):
        return None
    return ready if isinstance(ready, bool) else None


def is_ready(facts: Facts) -> bool:
    """Whether a pod runs and nothing says that it takes no traffic."""
    return facts.get("phase") == "Running" and readiness(facts) is not False


def selected_pods(snapshot: Snapshot, service: Entity) -> list[Entity]:
    """The pods of the same cluster and namespace that a K8sService selects."""
    selector = snapshot.fact(service.id, "selector")
    if not selects_pods(selector):
        return []
    return [
        pod
        for pod in snapshot.pods_in(snapshot.namespace(service))
        if label_match(selector, snapshot.fact(pod.id, "labels"))
    ]


def ready_endpoints(snapshot: Snapshot, service: Entity) -> int | None:
    """How many ready pods stand behind a K8sService; ``None`` where that cannot be known."""
    facts = snapshot.facts(service.id)
    if not selects_pods(facts.get("selector")) or facts.get("type") == "ExternalName":
        return None
    if not snapshot.pods_in(snapshot.namespace(service)):
        return None
    states = [_published(snapshot, service, pod) for pod in selected_pods(snapshot, service)]
    return None if None in states else sum(state is True for state in states)


def _published(snapshot: Snapshot, service: Entity, pod: Entity) -> bool | None:
    """Whether a pod's address is given out as ready; some Services give out every one."""
    facts = snapshot.facts(pod.id)
    state = readiness(facts)
    if snapshot.fact(service.id, "publish_not_ready") is True and facts.get("phase") == "Running":
        return True
    return state


def known_endpoints(snapshot: Snapshot, service: Entity) -> int | None:
    """The count that the pods tell, else the one that was recorded with the Service."""
    count = ready_endpoints(snapshot, service)
    if count is not None or snapshot.fact(service.id, "type") == "ExternalName":
        return count
    return whole(snapshot.fact(service.id, "ready_endpoints"))


def _sees(snapshot: Snapshot, service: Entity) -> str | None:
    count = known_endpoints(snapshot, service)
    return None if count is None else f"{count} ready endpoints"


def _tells(facts: Facts) -> str | None:
    if facts.get("type") == "ExternalName" and said(facts.get("external_name")):
        return f"an alias of {facts['external_name']}"
    return None


RULE = Rule(
    "endpoints",
    ("K8sService",),
    "EndpointSlice controller: a selected pod is an endpoint, ready when its Ready condition is "
    "true and it is not terminating (KEP-1672), or always with publishNotReadyAddresses",
    tells=_tells,
    sees=_sees,
)
