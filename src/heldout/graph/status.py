"""What state a thing is in, derived from its facts by the rules that Kubernetes follows.

One implementation for simulated and for imported worlds: imported manifests carry no status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.graph.snapshot import Entity, Snapshot

UNKNOWN = "unknown"
_MEMORY_DEMANDS = (
    ("requests.memory", "memory_request"),
    ("memory", "memory_request"),
    ("limits.memory", "memory_limit"),
)
_PLAIN_FIELDS = ("status", "state", "phase")


def _texts(labels: Any) -> dict[str, str]:
    if not isinstance(labels, Mapping):
        return {}
    return {str(key): str(value) for key, value in labels.items()}


def label_match(selector: Any, labels: Any) -> bool:
    """Whether a label selector picks ``labels``; an empty selector picks everything.

    Takes a plain map, or ``matchLabels`` / ``matchExpressions`` (also in snake case).
    """
    have = _texts(labels)
    if not isinstance(selector, Mapping):
        return selector is None
    pairs = selector.get("matchLabels", selector.get("match_labels"))
    rules = selector.get("matchExpressions", selector.get("match_expressions"))
    if pairs is None and rules is None:
        pairs = selector
    if any(have.get(key) != value for key, value in _texts(pairs).items()):
        return False
    # A list is what it should be; of anything else nothing is known to be picked.
    if rules is not None and not isinstance(rules, list | tuple):
        return False
    return all(_expression(rule, have) for rule in rules or () if isinstance(rule, Mapping))


def _expression(rule: Mapping[str, Any], have: Mapping[str, str]) -> bool:
    key = str(rule.get("key", ""))
    operator = rule.get("operator")
    given = rule.get("values")
    values = [str(value) for value in given] if isinstance(given, list | tuple) else []
    if operator == "In":
        return have.get(key) in values
    if operator == "NotIn":
        return have.get(key) not in values
    if operator == "Exists":
        return key in have
    if operator == "DoesNotExist":
        return key not in have
    return False


def selects_pods(selector: Any) -> bool:
    """Whether a Service selector picks any pod at all: without one, endpoints are kept by hand."""
    return isinstance(selector, Mapping) and bool(selector)


def is_ready(facts: Mapping[str, Any]) -> bool:
    """Whether a pod takes traffic: running and ready."""
    return facts.get("phase") == "Running" and facts.get("ready") is not False


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
    if not selects_pods(snapshot.fact(service.id, "selector")):
        return None
    if not snapshot.pods_in(snapshot.namespace(service)):
        return None
    return sum(is_ready(snapshot.facts(pod.id)) for pod in selected_pods(snapshot, service))


def schedulable_on(
    node_selector: Any, nodes: Iterable[tuple[Entity, Mapping[str, Any]]]
) -> list[Entity]:
    """The nodes that satisfy a pod's ``nodeSelector``; labels alone, not capacity or taints."""
    return [node for node, facts in nodes if label_match(node_selector or {}, facts.get("labels"))]


def expected_pod(
    node_selector: Any, nodes: Sequence[tuple[Entity, Mapping[str, Any]]]
) -> dict[str, Any]:
    """What becomes of a declared pod: Pending where no known node fits, else running and ready.

    Nothing is concluded from what a folder of manifests leaves out: without known nodes, and for
    objects that are referred to but absent, the pod is taken to run.
    """
    if node_selector and nodes and not schedulable_on(node_selector, nodes):
        return {"phase": "Pending", "ready": False}
    return {"phase": "Running", "ready": True}


def refused_by_quota(facts: Mapping[str, Any], hard: Any, *, has_defaults: bool) -> str | None:
    """The quota's demand for which a workload's next pod is refused, ``None`` where it is not.

    A declared limit also serves as the request. A field that was not observed refuses nothing.
    """
    if not isinstance(hard, Mapping) or has_defaults or facts.get("replicas") == 0:
        return None
    for demand, field in _MEMORY_DEMANDS:
        if demand not in hard or field not in facts or facts[field]:
            continue
        if field == "memory_request" and facts.get("memory_limit"):
            continue
        return demand
    return None


def _workload(facts: Mapping[str, Any]) -> str:
    wanted, ready = facts.get("replicas"), facts.get("ready_replicas")
    if wanted == 0:
        return "scaled to zero"
    if isinstance(wanted, int) and isinstance(ready, int):
        return f"{ready}/{wanted} ready"
    return UNKNOWN


def _pod(facts: Mapping[str, Any]) -> str:
    phase, reason = facts.get("phase"), facts.get("reason")
    if isinstance(reason, str) and reason:
        return reason
    if phase == "Running" and facts.get("ready") is False:
        return "Running, not ready"
    return phase if isinstance(phase, str) else UNKNOWN


def _node(facts: Mapping[str, Any]) -> str:
    if facts.get("ready") is False:
        return "NotReady"
    if facts.get("unschedulable") is True:
        return "Ready, cordoned"
    return "Ready" if facts.get("ready") is True else UNKNOWN


_BY_KIND = {
    "Pod": _pod,
    "Node": _node,
    **dict.fromkeys(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), _workload),
}


def status_from_facts(kind: str, facts: Mapping[str, Any]) -> str:
    """The status that an entity's own facts tell: a rule of its kind, else a status-like fact."""
    rule = _BY_KIND.get(kind)
    if rule is not None:
        found = rule(facts)
        if found != UNKNOWN:
            return found
    for field in _PLAIN_FIELDS:
        value = facts.get(field)
        if isinstance(value, str) and value:
            return value[:80]
    return UNKNOWN


def status_of(snapshot: Snapshot, entity: Entity) -> str:
    """The status of one entity now, ``unknown`` where nothing tells it."""
    if entity.kind == "K8sService":
        count = ready_endpoints(snapshot, entity)
        if count is None:
            given = snapshot.fact(entity.id, "ready_endpoints")
            count = given if isinstance(given, int) else None
        if count is not None:
            return f"{count} ready endpoints"
    return status_from_facts(entity.kind, snapshot.facts(entity.id))
