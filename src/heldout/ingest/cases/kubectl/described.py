"""What ``kubectl describe`` prints, read back into an object with its status and its events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_EVENT = re.compile(r"^(Normal|Warning)\s+(\S+)\s+(.+?)\s{2,}(\S.*?)\s{2,}(\S.*)$")
_CONTROLLED = re.compile(r"^(\w+)/(\S+)$")


@dataclass(slots=True)
class Node:
    """A line of a description with the lines indented below it."""

    key: str
    value: str
    below: list[Node] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """The first line of this key below."""
        return next((one for one in self.below if one.key == key), None)

    def text(self, key: str) -> str:
        """The value of a key below, empty for none."""
        found = self.get(key)
        said = found.value if found else ""
        return "" if said in ("<none>", "<unset>", "<unknown>") else said


def outline(text: str) -> Node:
    """A description as a tree by indentation; a line without a key is a value of its own."""
    root = Node("", "")
    stack: list[tuple[int, Node]] = [(-1, root)]
    for line in text.splitlines():
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        key, colon, value = line.strip().partition(":")
        is_pair = bool(colon) and (not value or value[0] == " ") and len(key) < 60
        one = Node(key, value.strip()) if is_pair else Node("", line.strip())
        while stack[-1][0] >= indent:
            stack.pop()
        stack[-1][1].below.append(one)
        stack.append((indent, one))
    return root


def age_seconds(text: str) -> int:
    """``6m40s``, ``3d4h`` or ``87s (x23 over 6m33s)`` in seconds."""
    return sum(
        int(n) * _UNITS[unit] for n, unit in re.findall(r"(\d+)([dhms])", text.split("(")[0])
    )


@dataclass(frozen=True, slots=True)
class Described:
    """An object, and events about it as (seconds before the recording, type, reason, message)."""

    body: Body
    events: tuple[tuple[int, str, str, str], ...] = ()
    started: str = ""


def described(kind: str, text: str) -> Described | None:
    """The object that a description tells of; ``None`` for text that is none."""
    root = outline(text)
    name = root.text("Name")
    if not name:
        return None
    metadata: Body = {"name": name, "namespace": root.text("Namespace")}
    labels = _pairs(root.get("Labels"), "=")
    if labels:
        metadata["labels"] = labels
    owner = _CONTROLLED.match(root.text("Controlled By"))
    if owner:
        metadata["ownerReferences"] = [{"kind": owner[1], "name": owner[2]}]
    body: Body = {"apiVersion": _VERSIONS.get(kind, "v1"), "kind": kind, "metadata": metadata}
    reader = _READERS.get(kind)
    if reader is not None:
        reader(root, body)
    return Described(body, tuple(_events(root)), root.text("Start Time"))


def _pairs(node: Node | None, mark: str) -> dict[str, str]:
    if node is None:
        return {}
    lines = [node.value, *(f"{one.key}{': ' if one.key else ''}{one.value}" for one in node.below)]
    found = (line.partition(mark) for line in lines)
    return {key.strip(): value.strip() for key, at, value in found if at}


def _events(root: Node) -> Iterator[tuple[int, str, str, str]]:
    told = root.get("Events")
    for one in told.below if told else ():
        line = f"{one.key}: {one.value}" if one.key else one.value
        match = _EVENT.match(line)
        if match:
            yield age_seconds(match[3]), match[1], match[2], match[5]


def _pod(root: Node, body: Body) -> None:
    containers, statuses = [], []
    told = root.get("Containers")
    for one in told.below if told else ():
        if one.key and one.below:
            own, status = _container(one)
            containers.append(own)
            statuses.append(status)
    spec: Body = {"containers": containers}
    node = root.text("Node").partition("/")[0]
    if node:
        spec["nodeName"] = node
    selector = _pairs(root.get("Node-Selectors"), "=")
    if selector:
        spec["nodeSelector"] = selector
    if root.text("Service Account"):
        spec["serviceAccountName"] = root.text("Service Account")
    conditions = [
        {"type": parts[0], "status": parts[1]}
        for one in (root.get("Conditions") or Node("", "")).below
        if len(parts := f"{one.key} {one.value}".split()) == 2 and parts[0] != "Type"
    ]
    body["spec"] = spec
    body["status"] = {
        "phase": root.text("Status").split(" ")[0] or "Unknown",
        "conditions": conditions,
        "containerStatuses": statuses,
    }


def _container(one: Node) -> tuple[Body, Body]:
    spec: Body = {"name": one.key, "image": one.text("Image")}
    resources = {
        name.lower(): values
        for name in ("Limits", "Requests")
        if (values := {row.key: row.value for row in (one.get(name) or Node("", "")).below})
    }
    if resources:
        spec["resources"] = resources
    said = _pairs(one.get("Environment"), ":")
    if said:
        spec["env"] = [{"name": name, "value": value} for name, value in said.items() if name]
    for name, field_ in (("Liveness", "livenessProbe"), ("Readiness", "readinessProbe")):
        if one.text(name):
            spec[field_] = {"described": one.text(name)}
    status: Body = {
        "name": one.key,
        "image": one.text("Image"),
        "ready": one.text("Ready") == "True",
        "restartCount": int(one.text("Restart Count") or 0),
        "state": _state(one.get("State")),
    }
    last = _state(one.get("Last State"))
    if last:
        status["lastState"] = last
    return spec, status


def _state(node: Node | None) -> Body:
    if node is None or not node.value:
        return {}
    inner: Body = {}
    if node.text("Reason"):
        inner["reason"] = node.text("Reason")
    if node.text("Message"):
        inner["message"] = node.text("Message")
    if node.text("Exit Code").lstrip("-").isdigit():
        inner["exitCode"] = int(node.text("Exit Code"))
    return {node.value.lower(): inner}


def _workload(root: Node, body: Body) -> None:
    selector = _pairs(root.get("Selector"), "=")
    template = root.get("Pod Template")
    containers = [
        _container(one)[0]
        for one in ((template.get("Containers") if template else None) or Node("", "")).below
        if one.key and one.below
    ]
    body["spec"] = {
        "selector": {"matchLabels": selector},
        "template": {"metadata": {"labels": selector}, "spec": {"containers": containers}},
    }
    found = {word: int(count) for count, word in re.findall(
        r"(\d+) (desired|available|unavailable)", root.text("Replicas"))}  # fmt: skip
    if "desired" in found:
        body["spec"]["replicas"] = found["desired"]
        body["status"] = {"readyReplicas": found.get("available", 0),
                          "unavailableReplicas": found.get("unavailable", 0)}  # fmt: skip


def _claim(root: Node, body: Body) -> None:
    body["spec"] = {"storageClassName": root.text("StorageClass")}
    body["status"] = {"phase": root.text("Status")}


_VERSIONS: Mapping[str, str] = {
    "Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Job": "batch/v1",
}  # fmt: skip
_READERS = {
    "Pod": _pod, "Deployment": _workload, "ReplicaSet": _workload, "StatefulSet": _workload,
    "PersistentVolumeClaim": _claim,
}  # fmt: skip
KINDS: Mapping[str, str] = {
    "pod": "Pod", "pods": "Pod", "po": "Pod", "deployment": "Deployment", "deploy": "Deployment",
    "deployments": "Deployment", "job": "Job", "jobs": "Job", "node": "Node", "nodes": "Node",
    "service": "Service", "svc": "Service", "services": "Service", "namespace": "Namespace",
    "namespaces": "Namespace", "ns": "Namespace", "replicaset": "ReplicaSet",
    "statefulset": "StatefulSet", "persistentvolumeclaim": "PersistentVolumeClaim",
    "pvc": "PersistentVolumeClaim", "storageclass": "StorageClass", "ingress": "Ingress",
    "configmap": "ConfigMap", "secret": "Secret", "hpa": "HorizontalPodAutoscaler",
    "networkpolicy": "NetworkPolicy", "persistentvolume": "PersistentVolume",
    "application": "Application", "applications.argoproj.io": "Application",
}  # fmt: skip
"""Words for kinds in recorded calls."""
