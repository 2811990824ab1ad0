"""One application in a cluster as it stands, and what happened to it: the ground of every fault.

Objects are Kubernetes' own, so that the importer of real dumps makes the world of them. A change is
the difference of an object before and after, field by field, as an audit trail has it.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from heldout.ingest.cases.sregym.apps import App, Service

Body = dict[str, Any]
Key = tuple[str, str, str]
MINUTE = 60
_TYPES = {
    "Deployment": "deploy", "CronJob": "deploy", "Pod": "runtime", "ReplicaSet": "runtime",
    "Job": "runtime", "Secret": "secret",
}  # fmt: skip
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
ONSET = datetime(2026, 3, 10, 14, 7, tzinfo=UTC)
"""When every fault begins, in the simulated world's own calendar."""
LONG_AGO = -30 * 86_400.0
NODES = ("worker-1", "worker-2", "worker-3")


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody did to an object, ``at`` seconds from the fault's beginning on.

    ``before`` and ``after`` are the object's states, ``None`` where it was or is not there.
    """

    key: str
    at: float
    type: str
    actor: str
    summary: str
    object: Key
    before: Body | None = None
    after: Body | None = None

    def fields(self) -> dict[str, tuple[Any, Any]]:
        """Every field that differs, by its path, before and after."""
        old, new = (leaves(one or {}) for one in (self.before, self.after))
        return {
            path: (old.get(path), new.get(path))
            for path in {**old, **new}
            if path
            and old.get(path) != new.get(path)
            # A list that was empty and is none now holds what is told by its items' paths.
            and not (old.get(path) in ([], {}) and path not in new)
        }


@dataclass(frozen=True, slots=True)
class Event:
    """What a controller said of an object."""

    at: float
    object: Key
    type: str
    reason: str
    message: str
    component: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fault makes of a series from ``at`` on: a function of the seconds since."""

    workload: str
    series: str
    at: float
    value: Callable[[float, float], float]


@dataclass(slots=True)
class Cluster:
    """Objects by kind, namespace and name; changes, events, log lines and effects in order."""

    app: App
    objects: dict[Key, Body] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    lines: list[tuple[float, str, str, str]] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    pods: dict[str, list[str]] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """The application's namespace."""
        return self.app.name

    def key(self, kind: str, name: str, namespace: str | None = None) -> Key:
        """The key of an object; without a namespace it is in the application's."""
        return kind, self.namespace if namespace is None else namespace, name

    def get(self, kind: str, name: str, namespace: str | None = None) -> Body:
        """An object as it stands."""
        return self.objects[self.key(kind, name, namespace)]

    def put(self, kind: str, name: str, namespace: str | None = None, **body: Any) -> Key:
        """Let an object stand there; nobody is told."""
        key = self.key(kind, name, namespace)
        metadata = {"name": name, **body.pop("metadata", {})}
        if key[1]:
            metadata["namespace"] = key[1]
        version = body.pop("apiVersion", _version(kind))
        self.objects[key] = {"kind": kind, "apiVersion": version, "metadata": metadata, **body}
        return key

    def create(
        self, at: float, kind: str, name: str, namespace: str | None = None, *,
        actor: str = "platform-admin", **body: Any,
    ) -> Change:  # fmt: skip
        """Somebody creates an object: a change of its own."""
        key = self.put(kind, name, namespace, **body)
        return self._changed(at, actor, f"created {kind} {name}", key, (None, self.objects[key]))

    def patch(
        self, at: float, kind: str, name: str, edit: Callable[[Body], object],
        namespace: str | None = None, *, actor: str = "platform-admin", verb: str = "updated",
    ) -> Change:  # fmt: skip
        """Somebody edits an object: a change with every field that differs."""
        key = self.key(kind, name, namespace)
        before = self.objects[key]
        self.objects[key] = copy.deepcopy(before)
        edit(self.objects[key])
        return self._changed(at, actor, f"{verb} {kind} {name}", key, (before, self.objects[key]))

    def delete(
        self, at: float, kind: str, name: str, namespace: str | None = None, *,
        actor: str = "platform-admin",
    ) -> Change:  # fmt: skip
        """Somebody deletes an object; it is gone."""
        key = self.key(kind, name, namespace)
        self.objects.pop(key, None)
        return self._changed(at, actor, f"deleted {kind} {name}", key)

    def applied_again(self, at: float, name: str, edit: Callable[[Body], object]) -> Change:
        """A Deployment is deleted and applied again otherwise: history by name shows the fields."""
        key = self.key("Deployment", name)
        self._changed(at, "platform-admin", f"deleted Deployment {name}", key)
        return self.patch(at + 5, "Deployment", name, edit, verb="created")

    def _changed(
        self,
        at: float,
        actor: str,
        summary: str,
        key: Key,
        states: tuple[Body | None, Body | None] = (None, None),
    ) -> Change:
        kind = _TYPES.get(key[0], "config")
        # Objects go on changing; what a change says of them does not.
        made = Change(f"{len(self.changes)}", at, kind, actor, summary, key, *copy.deepcopy(states))
        self.changes.append(made)
        return made

    def event(
        self, at: float, kind: str, name: str, reason: str, message: str, *,
        component: str = "kubelet", type: str = "Warning", namespace: str | None = None,
    ) -> None:  # fmt: skip
        """A controller says something of an object."""
        key = self.key(kind, name, namespace)
        self.events.append(Event(at, key, type, reason, message, component))

    def log(self, at: float, workload: str, level: str, text: str) -> None:
        """A workload writes a line."""
        self.lines.append((at, workload, level, text))

    def every(self, step: float, workload: str, level: str, text: str, since: float = 10) -> None:
        """A workload writes a line again and again, to the end."""
        at = since
        while at < ENDS:
            self.log(at, workload, level, text)
            at += step

    def moved(
        self, workload: str, series: str, value: Callable[[float, float], float], at: float = 0
    ) -> None:
        """A series takes another course: ``value(seconds since, what it would have been)``."""
        self.effects.append(Effect(workload, series, at, value))

    def fails(
        self, name: str, error: str, *, share: float = 1.0, at: float = 10, waits: bool = False
    ) -> None:
        """Whoever calls a service says ``error``, and everything above fails in part.

        ``{}`` in the error is the service with its port. A share of requests up to ``share`` fails;
        one that ``waits`` is slow as well.
        """
        said = error.format(f"{name}:{self.app.services[name].port}")
        for caller in self.app.callers(name):
            self.every(20, caller, "ERROR", said, at)
        near = self.app.callers(name)
        for far in self.app.above(name):
            part = share if far in near else share / 2
            self.moved(far, "http_error_ratio", _more(0.9 * part), at)
            if waits:
                self.moved(far, "request_duration_p99_ms", _more(3000), at)
        for far in self.app.above(name):
            if far not in near:
                self.every(45, far, "WARN", "request failed: upstream answered 500", at + 5)

    def pod(self, name: str, number: int = 0) -> Body:
        """A pod of a workload as it stands."""
        return self.get("Pod", self.pods[name][number])

    def deploy(
        self, service: Service, *, env: list[Body], namespace: str | None = None, replicas: int = 1,
        **spec: Any,
    ) -> None:  # fmt: skip
        """A Deployment with its pods, and a Service before them, as they have long been."""
        labels = {self.app.label: service.name}
        container: Body = {
            "name": service.name,
            "image": f"{service.image}:2.{_drawn(service.name, 9)}.0",
            "ports": [{"containerPort": service.port}],
            "env": env,
        }
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}
        self.put("Deployment", service.name, namespace, spec={
            "replicas": replicas, "selector": {"matchLabels": dict(labels)}, "template": template,
            "strategy": {"type": "RollingUpdate"},
        })  # fmt: skip
        self.put("Service", service.name, namespace, spec={
            "selector": dict(labels), "type": "ClusterIP",
            "ports": [{"port": service.port, "targetPort": service.port}],
        })  # fmt: skip
        self.roll(service.name, namespace)

    def roll(self, name: str, namespace: str | None = None, *, ready: bool = True) -> list[str]:
        """Pods of a Deployment's template as it is now take the place of those before."""
        deployment = self.get("Deployment", name, namespace)
        spec = deployment["spec"]
        since = self.changes[-1].at + 4 if self.changes else LONG_AGO
        for old in self.pods.get(name, ()):
            self.objects.pop(self.key("Pod", old, namespace), None)
        sets = [
            one
            for one in self.objects
            if one[0] == "ReplicaSet" and one[2].rpartition("-")[0] == name
        ]
        for one in sets:
            self.objects.pop(one)
        mark = _mark(f"{name}{leaves(spec['template'])}{len(self.changes)}", 9)
        labels = {**spec["template"]["metadata"]["labels"], "pod-template-hash": mark}
        owner = _owner("Deployment", name)
        inner = {
            "replicas": spec["replicas"], "selector": {"matchLabels": labels},
            "template": copy.deepcopy(spec["template"]),
        }  # fmt: skip
        about = {**owner, "labels": labels}
        self.put("ReplicaSet", f"{name}-{mark}", namespace, metadata=about, spec=inner)
        self.pods[name] = []
        for number in range(spec["replicas"]):
            pod = f"{name}-{mark}-{_mark(f'{name}{mark}{number}', 5)}"
            self.pods[name].append(pod)
            node = NODES[_drawn(f"{name}{number}", len(NODES))]
            self.put("Pod", pod, namespace, metadata={
                **_owner("ReplicaSet", f"{name}-{mark}"), "labels": dict(labels),
            }, spec={**copy.deepcopy(spec["template"]["spec"]), "nodeName": node},
                status=running(name, ready=ready, since=since))  # fmt: skip
        count = spec["replicas"] if ready else 0
        deployment["status"] = {"replicas": spec["replicas"], "readyReplicas": count}
        return self.pods[name]

    def count(self, name: str, ready: int, namespace: str | None = None) -> None:
        """Say how many pods of a Deployment are ready."""
        self.get("Deployment", name, namespace)["status"]["readyReplicas"] = ready


ENDS = 12 * MINUTE
"""When a world stands: so many seconds after the fault."""


def iso_at(at: float) -> str:
    """A moment as Kubernetes writes it, from seconds since the onset."""
    return (ONSET + timedelta(seconds=round(at))).strftime("%Y-%m-%dT%H:%M:%SZ")


def running(name: str, *, ready: bool = True, since: float = LONG_AGO) -> Body:
    """The status of a pod whose container runs."""
    state = {"type": "Ready", "status": "True" if ready else "False"}
    one = {"name": name, "ready": ready, "restartCount": 0, "state": {
        "running": {"startedAt": iso_at(since)}}}  # fmt: skip
    return {"phase": "Running", "conditions": [state], "containerStatuses": [one]}


def waiting(name: str, reason: str, *, restarts: int = 0, phase: str = "Running") -> Body:
    """The status of a pod whose container waits."""
    one = {"name": name, "ready": False, "restartCount": restarts, "state": {
        "waiting": {"reason": reason}}}  # fmt: skip
    state = {"type": "Ready", "status": "False"}
    return {"phase": phase, "conditions": [state], "containerStatuses": [one]}


def pending(message: str) -> Body:
    """The status of a pod that no node takes."""
    said = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
    }
    return {"phase": "Pending", "conditions": [said]}


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every field of an object that holds a plain value, by its path; status is none of it."""
    if isinstance(value, Mapping) and value:
        found: dict[str, Any] = {}
        for key, one in value.items():
            if path or key != "status":
                found |= leaves(one, f"{path}.{key}" if path else str(key))
        return found
    if isinstance(value, list) and value:
        found = {}
        for at, one in enumerate(value):
            found |= leaves(one, f"{path}[{at}]")
        return found
    return {path: value}


def _more(much: float) -> Callable[[float, float], float]:
    return lambda _, calm: calm + much


def _version(kind: str) -> str:
    if kind in ("Deployment", "ReplicaSet"):
        return "apps/v1"
    if kind in ("Job", "CronJob"):
        return "batch/v1"
    if kind.endswith("WebhookConfiguration"):
        return "admissionregistration.k8s.io/v1"
    if kind.startswith("ClusterRole"):
        return "rbac.authorization.k8s.io/v1"
    return "networking.k8s.io/v1" if kind == "NetworkPolicy" else "v1"


def _owner(kind: str, name: str) -> Body:
    return {"ownerReferences": [{"kind": kind, "name": name, "controller": True}]}


def _mark(text: str, length: int) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


def _drawn(text: str, below: int) -> int:
    return hashlib.sha256(text.encode()).digest()[0] % below
