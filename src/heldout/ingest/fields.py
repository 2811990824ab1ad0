"""Fields of Kubernetes objects as facts, named as health checks and simulated worlds name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heldout.graph.quantities import amount
from heldout.graph.status.rule import said, whole
from heldout.ingest.objects import K8sObject, mapping, sequence
from heldout.ingest.podspec import Fields, containers, pod_labels, pod_spec

MAX_GENERIC_FIELDS = 40
_LONGEST_TEXT = 4_000
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
"""Conditions of nodes that are bad when they are true."""


def fields_of(item: K8sObject) -> Fields:
    """The facts of one object, by field, in a stable order."""
    fields: Fields = {}
    if item.place:
        fields["namespace"] = item.place
    if item.labels:
        fields["labels"] = item.labels
    reader = _BY_KIND.get(item.entity_kind)
    if reader is None:
        fields.update(_generic(item))
    else:
        fields.update(reader(item))
    return {name: value for name, value in fields.items() if name}


def _pod_fields(item: K8sObject) -> Fields:
    spec = pod_spec(item)
    if not spec:
        return {}
    fields: Fields = {}
    images = {str(one.get("name")): one["image"] for one in containers(item) if one.get("image")}
    if len(images) == 1:
        fields["image"] = next(iter(images.values()))
    elif images:
        fields["images"] = images
    for name, group, resource in (
        ("memory_request", "requests", "memory"),
        ("memory_limit", "limits", "memory"),
        ("cpu_request", "requests", "cpu"),
        ("cpu_limit", "limits", "cpu"),
    ):
        fields[name] = _total(item, group, resource)
    fields["dns_policy"] = spec.get("dnsPolicy") or "ClusterFirst"
    for name, key in (
        ("dns_config", "dnsConfig"),
        ("node_selector", "nodeSelector"),
        ("host_network", "hostNetwork"),
        ("service_account", "serviceAccountName"),
        ("priority_class", "priorityClassName"),
    ):
        if spec.get(key) not in (None, "", {}):
            fields[name] = spec[key]
    fields.update(_environment(item))
    return fields


def _environment(item: K8sObject) -> Fields:
    found: Fields = {}
    for container in containers(item):
        for variable in sequence(container.get("env")):
            name = mapping(variable).get("name")
            if not isinstance(name, str):
                continue
            value = variable.get("value")
            found[f"env.{name}"] = _source(variable) if value is None else clipped(str(value))
    return found


def _source(variable: Mapping[str, Any]) -> str:
    for kind, reference in mapping(variable.get("valueFrom")).items():
        inner = mapping(reference)
        target = inner.get("name") or inner.get("fieldPath") or inner.get("resource")
        return f"{kind}:{target}/{inner['key']}" if inner.get("key") else f"{kind}:{target}"
    return ""


def _total(item: K8sObject, group: str, resource: str) -> str | None:
    """The sum over containers as it is written, ``None`` where one of them declares nothing."""
    values = [
        mapping(mapping(one.get("resources")).get(group)).get(resource) for one in containers(item)
    ]
    if not values or any(value is None for value in values):
        return None
    if len(values) == 1:
        return str(values[0])
    if resource != "memory":
        return " + ".join(str(value) for value in values)
    sizes = [quantity(str(value)) for value in values]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return " + ".join(str(value) for value in values)
    return f"{sum(known) // 2**20}Mi"


def quantity(text: str) -> int | None:
    """Bytes of a Kubernetes quantity such as ``512Mi``; ``None`` where it is none."""
    size = amount(text)
    return None if size is None else int(size)


def _workload(item: K8sObject) -> Fields:
    fields: Fields = {}
    if item.kind in ("Deployment", "StatefulSet", "ReplicaSet"):
        fields["replicas"] = item.spec.get("replicas", 1)
    if item.kind == "CronJob":
        fields["schedule"] = item.spec.get("schedule")
        fields["suspend"] = bool(item.spec.get("suspend"))
    selector = item.spec.get("selector")
    if selector:
        fields["selector"] = selector
    labels = pod_labels(item)
    if labels:
        fields["pod_labels"] = labels
    return {**fields, **_counts(item), **_pod_fields(item)}


def _counts(item: K8sObject) -> Fields:
    """How many pods are ready and how many are wanted, as the status tells.

    The API leaves zeros out: a status that has other counts and no ready one says that none is.
    """
    status, fields = item.status, Fields()
    ready = whole(status.get("readyReplicas", status.get("numberReady")))
    if ready is not None:
        fields["ready_replicas"] = ready
    elif status and (item.kind in ("Deployment", "StatefulSet") or "replicas" in status):
        fields["ready_replicas"] = 0
    wanted = whole(status.get("desiredNumberScheduled"))
    if wanted is not None:
        fields["replicas"] = wanted
    return fields


def _pod(item: K8sObject) -> Fields:
    fields = _pod_fields(item)
    status = item.status
    if status:
        fields.update(_pod_status(status))
    node = pod_spec(item).get("nodeName")
    if node:
        fields["node"] = node
    return fields


def _pod_status(status: Mapping[str, Any]) -> Fields:
    fields: Fields = {"phase": said(status.get("phase")) or "Unknown"}
    states = [mapping(one) for one in sequence(status.get("containerStatuses"))]
    told = [
        mapping(one).get("status") == "True"
        for one in sequence(status.get("conditions"))
        if mapping(one).get("type") == "Ready"
    ]
    if told:
        fields["ready"] = told[0]
    elif states and all(isinstance(one.get("ready"), bool) for one in states):
        fields["ready"] = all(one["ready"] for one in states)
    fields["restarts"] = sum(whole(one.get("restartCount")) or 0 for one in states)
    first = [mapping(one) for one in sequence(status.get("initContainerStatuses"))]
    waits = next((why for one in states if (why := _waits_for(one))), "")
    before = next((why for one in first if (why := _waits_for(one))), "")
    # What keeps an init container waiting keeps the others from starting: it says more.
    reason = f"Init:{before}" if before else waits or said(status.get("reason"))
    return {**fields, "reason": reason} if reason else fields


def _waits_for(container: Mapping[str, Any]) -> str:
    reason = said(mapping(mapping(container.get("state")).get("waiting")).get("reason"))
    return "" if reason == "PodInitializing" else reason


def _service(item: K8sObject) -> Fields:
    fields: Fields = {
        "selector": item.spec.get("selector"),
        "type": item.spec.get("type") or "ClusterIP",
    }
    for name, key in (
        ("ports", "ports"),
        ("external_name", "externalName"),
        ("internal_traffic_policy", "internalTrafficPolicy"),
        ("external_traffic_policy", "externalTrafficPolicy"),
    ):
        if item.spec.get(key) not in (None, "", []):
            fields[name] = item.spec[key]
    if item.spec.get("publishNotReadyAddresses") is True:
        fields["publish_not_ready"] = True
    return fields


def _data(item: K8sObject) -> Fields:
    found: Fields = {}
    for key in ("data", "stringData", "binaryData"):
        for name, value in mapping(item.body.get(key)).items():
            found[f"data.{name}"] = clipped(str(value))
    if isinstance(item.body.get("type"), str):
        found["type"] = item.body["type"]
    return found


def _policy(item: K8sObject) -> Fields:
    return {
        "pod_selector": item.spec.get("podSelector") or {},
        "policy_types": item.spec.get("policyTypes")
        or (["Ingress", "Egress"] if "egress" in item.spec else ["Ingress"]),
        "ingress": item.spec.get("ingress"),
        "egress": item.spec.get("egress"),
    }


def _quota(item: K8sObject) -> Fields:
    fields: Fields = {"hard": dict(mapping(item.spec.get("hard")))}
    if item.status.get("used"):
        fields["used"] = item.status["used"]
    return fields


def _limit_range(item: K8sObject) -> Fields:
    fields: Fields = {}
    for limit in sequence(item.spec.get("limits")):
        if mapping(limit).get("type") == "Container":
            for name, key in (
                ("default_memory", "default"),
                ("default_request_memory", "defaultRequest"),
            ):
                value = mapping(limit.get(key)).get("memory")
                if value:
                    fields[name] = value
    return fields


def _node(item: K8sObject) -> Fields:
    fields: Fields = {"labels": item.labels}
    ready = [
        mapping(one).get("status")
        for one in sequence(item.status.get("conditions"))
        if mapping(one).get("type") == "Ready"
    ]
    if ready:
        fields["ready"] = ready[0] == "True"
    pressures = [
        mapping(one)["type"]
        for one in sequence(item.status.get("conditions"))
        if mapping(one).get("type") in _PRESSURES and mapping(one).get("status") == "True"
    ]
    if pressures:
        fields["pressures"] = pressures
    if item.spec.get("unschedulable"):
        fields["unschedulable"] = True
    if item.spec.get("taints"):
        fields["taints"] = item.spec["taints"]
    if item.status.get("allocatable"):
        fields["allocatable"] = item.status["allocatable"]
    return fields


def _claim(item: K8sObject) -> Fields:
    fields: Fields = {"access_modes": item.spec.get("accessModes") or []}
    storage = item.spec.get("storageClassName")
    if storage:
        fields["storage_class"] = storage
    size = mapping(mapping(item.spec.get("resources")).get("requests")).get("storage")
    size = size or mapping(item.spec.get("capacity")).get("storage")
    if size:
        fields["size"] = size
    if item.status.get("phase"):
        fields["phase"] = item.status["phase"]
    return fields


def _binding(item: K8sObject) -> Fields:
    return {
        "role_ref": dict(mapping(item.body.get("roleRef"))),
        "subjects": list(sequence(item.body.get("subjects"))),
    }


def _role(item: K8sObject) -> Fields:
    return {"rules": list(sequence(item.body.get("rules")))}


def _generic(item: K8sObject) -> Fields:
    """Leaves of the spec, so that a kind without rules of its own is still searchable."""
    found: Fields = {}
    if item.entity_kind == "CustomResource":
        found["custom_kind"] = item.kind

    def visit(value: Any, path: str, depth: int) -> None:
        if len(found) >= MAX_GENERIC_FIELDS:
            return
        if isinstance(value, Mapping) and value and depth < 6:
            for key, inner in value.items():
                visit(inner, f"{path}.{key}", depth + 1)
        else:
            found[path] = clipped(value) if isinstance(value, str) else value

    for top in (
        "spec", "webhooks", "provisioner", "volumeBindingMode", "value", "globalDefault",
    ):  # fmt: skip
        if top in item.body:
            visit(item.body[top], top, 0)
    phase = item.status.get("phase")
    if isinstance(phase, str):
        found["phase"] = phase
    return found


def clipped(text: str) -> str:
    """A text of bounded length: a world is no store for files."""
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "..."


_BY_KIND: Mapping[str, Callable[[K8sObject], Fields]] = {
    **dict.fromkeys(
        ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"), _workload
    ),
    "Pod": _pod,
    "K8sService": _service,
    "ConfigMap": _data,
    "Secret": _data,
    "NetworkPolicy": _policy,
    "ResourceQuota": _quota,
    "LimitRange": _limit_range,
    "Node": _node,
    "Pvc": _claim,
    "PersistentVolume": _claim,
    "RoleBinding": _binding,
    "ClusterRoleBinding": _binding,
    "Role": _role,
    "ClusterRole": _role,
}
