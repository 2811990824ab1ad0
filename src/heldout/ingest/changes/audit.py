"""Requests that were made to a cluster, as its API server recorded them: writes become changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from heldout.ingest.changes.people import Actor, People
from heldout.ingest.changes.record import Change, ClusterTarget, Moved, object_moves
from heldout.ingest.moments import moment
from heldout.ingest.objects import K8sObject, mapping
from heldout.ingest.redaction import Redactor

WRITES = ("create", "update", "patch", "delete", "deletecollection")
_KINDS: Mapping[str, str] = {
    "deployments": "Deployment", "statefulsets": "StatefulSet", "daemonsets": "DaemonSet",
    "replicasets": "ReplicaSet", "pods": "Pod", "services": "K8sService",
    "configmaps": "ConfigMap", "secrets": "Secret", "namespaces": "Namespace", "nodes": "Node",
    "ingresses": "Ingress", "jobs": "Job", "cronjobs": "CronJob", "roles": "Role",
    "rolebindings": "RoleBinding", "clusterroles": "ClusterRole",
    "clusterrolebindings": "ClusterRoleBinding", "serviceaccounts": "ServiceAccount",
    "networkpolicies": "NetworkPolicy", "persistentvolumeclaims": "Pvc",
    "persistentvolumes": "PersistentVolume", "horizontalpodautoscalers": "Hpa",
    "poddisruptionbudgets": "Pdb", "resourcequotas": "ResourceQuota",
    "limitranges": "LimitRange", "storageclasses": "StorageClass",
    "priorityclasses": "PriorityClass", "ingressclasses": "IngressClass",
    "validatingwebhookconfigurations": "Webhook", "mutatingwebhookconfigurations": "Webhook",
    "applications": "GitOpsApplication",
}  # fmt: skip
_NOISE = ("events", "leases", "tokenreviews", "subjectaccessreviews", "endpoints",
          "endpointslices", "selfsubjectaccessreviews")  # fmt: skip


class Audit:
    """Reads events; ``counts`` says what was no change, by what it was.

    Several stages of one request are one change: that of its completion. What an update changed is
    told against the state that the request before it left, where one of the same object was read.
    """

    def __init__(self, people: People, redactor: Redactor, cluster: str = "") -> None:
        self._people = people
        self._redactor = redactor
        self._cluster = cluster
        self._done: set[str] = set()
        self._states: dict[ClusterTarget, K8sObject] = {}
        self.counts: Counter[str] = Counter()

    def read(self, document: Any) -> Iterator[Change]:
        """The changes of a document: one event, a list of them, or what wraps them."""
        for event in events(document):
            found = self._change(event)
            if found is not None:
                yield found

    def _change(self, event: Mapping[str, Any]) -> Change | None:
        stage = event.get("stage") or "ResponseComplete"
        if stage != "ResponseComplete":
            self.counts["stage before the completion"] += 1
            return None
        verb = str(event.get("verb") or "").lower()
        reference = mapping(event.get("objectRef"))
        resource = str(reference.get("resource") or "")
        if verb not in WRITES or resource in _NOISE or reference.get("subresource") == "status":
            self.counts["request that changes nothing"] += 1
            return None
        at = _at(event)
        if at is None:
            self.counts["request without a time"] += 1
            return None
        target = self._target(event, reference, resource)
        key = str(event.get("auditID") or "")
        full = f"audit\x1f{key}\x1f{at}\x1f{verb}\x1f{'/'.join(target)}"
        # Servers that a request passes through tell it under one id, each with its own time.
        mark = f"{key or at}\x1f{verb}\x1f{'/'.join(target)}"
        if mark in self._done:
            self.counts["request that was told twice"] += 1
            return None
        self._done.add(mark)
        code = mapping(event.get("responseStatus")).get("code")
        refused = f"status {code}" if isinstance(code, int) and code >= 400 else ""
        actor = self._actor(event)
        sub = f"/{reference['subresource']}" if reference.get("subresource") else ""
        return Change(
            full,
            at,
            _type(resource, verb, str(reference.get("subresource") or "")),
            actor.name,
            actor.kind,
            "k8s",
            f"{verb} {resource or 'object'}{sub} {'/'.join(filter(None, target[1:3]))}".strip(),
            (target,) if target.name else (),
            () if refused else self._moved(event, verb, target, sub),
            refused,
        )

    def _target(
        self, event: Mapping[str, Any], reference: Mapping[str, Any], resource: str
    ) -> ClusterTarget:
        body = mapping(event.get("responseObject")) or mapping(event.get("requestObject"))
        name = reference.get("name") or mapping(body.get("metadata")).get("name") or ""
        kind = _KINDS.get(resource, resource.removesuffix("s").title() or "CustomResource")
        return ClusterTarget(kind, str(reference.get("namespace") or ""), str(name), self._cluster)

    def _moved(
        self, event: Mapping[str, Any], verb: str, target: ClusterTarget, sub: str
    ) -> tuple[Moved, ...]:
        if sub or not target.name:
            return ()
        before = self._states.get(target)
        if verb in ("delete", "deletecollection"):
            self._states.pop(target, None)
            return ()
        whole, sent = mapping(event.get("responseObject")), mapping(event.get("requestObject"))
        body = whole or sent
        if not body or body.get("kind") == "Status":
            return (Moved("unknown", None, None),)
        kind = str(body.get("kind") or target.kind)
        version = str(body.get("apiVersion") or "")
        clean = self._redactor.object(body, is_secret=kind == "Secret")
        after = K8sObject(kind, version, target.namespace, target.name, clean)
        if whole or verb in ("create", "update"):
            self._states[target] = after
            return object_moves(before, after)
        return object_moves(None, after)  # A patch says what it sets, not what stood there.

    def _actor(self, event: Mapping[str, Any]) -> Actor:
        user = mapping(event.get("user"))
        name = str(
            mapping(event.get("impersonatedUser")).get("username") or user.get("username") or ""
        )
        return self._people.person(name)


def events(document: Any) -> Iterator[Mapping[str, Any]]:
    """Audit events, also as clouds wrap them (a JSON string in a log record, a proto payload)."""
    if isinstance(document, list):
        for one in document:
            yield from events(one)
        return
    if not isinstance(document, Mapping):
        return
    if isinstance(document.get("items"), list) and str(document.get("kind")).endswith("EventList"):
        yield from events(document["items"])
    elif isinstance(document.get("records"), list):
        yield from events(document["records"])
    elif isinstance(mapping(document.get("properties")).get("log"), str):
        try:
            yield from events(json.loads(document["properties"]["log"]))
        except ValueError:
            return
    elif isinstance(mapping(document.get("properties")).get("log"), Mapping):
        yield from events(document["properties"]["log"])
    elif isinstance(document.get("protoPayload"), Mapping):
        found = _proto(document)
        if found is not None:
            yield found
    elif "objectRef" in document or (
        "verb" in document and ("auditID" in document or "requestURI" in document)
    ):
        yield document


def _proto(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """An entry of a cloud's audit log in the shape of the API server's own."""
    payload = mapping(document["protoPayload"])
    method = str(payload.get("methodName") or "")
    parts = str(payload.get("resourceName") or "").split("/")
    verb = method.rsplit(".", 1)[-1]
    if "namespaces" in parts and len(parts) > parts.index("namespaces") + 2:
        at = parts.index("namespaces")
        namespace, resource, rest = parts[at + 1], parts[at + 2], parts[at + 3 :]
    else:
        namespace = ""
        resource = parts[2] if len(parts) > 2 else ""
        rest = parts[3:]
    code = mapping(payload.get("status")).get("code")
    return {
        "auditID": document.get("insertId") or "",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": mapping(payload.get("authenticationInfo")).get("principalEmail")},
        "objectRef": {
            "resource": resource,
            "namespace": namespace,
            "name": rest[0] if rest else "",
            "subresource": rest[1] if len(rest) > 1 else "",
        },
        "requestObject": payload.get("request"),
        "responseObject": payload.get("response"),
        "responseStatus": {"code": 403 if code else 200},
        "stageTimestamp": document.get("timestamp") or document.get("receiveTimestamp"),
    }


def _at(event: Mapping[str, Any]) -> int | None:
    for name in ("stageTimestamp", "requestReceivedTimestamp", "timestamp", "p_event_time"):
        found = moment(event.get(name))
        if found is not None:
            return found
    return moment(mapping(event.get("metadata")).get("creationTimestamp"))


def _type(resource: str, verb: str, sub: str) -> str:
    if sub == "scale" or resource == "horizontalpodautoscalers":
        return "scale"
    if resource == "pods":
        return "pod"
    if resource == "nodes":
        return "node"
    if resource == "secrets":
        return "secret"
    if resource in ("deployments", "statefulsets", "daemonsets") and verb != "delete":
        return "deploy"
    return "config"
