"""What one object says of another: owners, volumes, routes, identities, addresses in settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from heldout.graph.status import label_match, selects_pods
from heldout.ingest.mentions import mentions
from heldout.ingest.objects import K8sObject, mapping, sequence
from heldout.ingest.podspec import containers, pod_labels, pod_spec

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
_ADDRESS_NAME = re.compile(
    r"(?i)(addr(ess)?|host|url|uri|endpoint|service|servers?|brokers?)(es|s)?$"
)
_HOST = re.compile(r"([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)((?:\.[a-z0-9-]+)*)(:\d{1,5})?")


_PREDICATES = {
    "ConfigMap": "mounts", "Secret": "mounts", "Pvc": "mounts", "ServiceAccount": "uses_identity",
}  # fmt: skip
"""What a pod, or what makes pods, does with what it refers to."""

_BY_SOURCE: Mapping[str, Mapping[str, str]] = {
    "Ingress": {"K8sService": "routes_to", "Secret": "terminates_tls_with"},
    "Hpa": dict.fromkeys(("Deployment", "StatefulSet", "ReplicaSet"), "scales"),
    "RoleBinding": {"Role": "grants", "ClusterRole": "grants"},
    "ClusterRoleBinding": {"ClusterRole": "grants"},
    "Webhook": {},
}


class Identity(NamedTuple):
    """What names an object in one cluster: the ontology's kind, its namespace, its name."""

    kind: str
    namespace: str
    name: str


class Reference(NamedTuple):
    """``src predicate dst``, declared by ``src`` or ``dst``."""

    src: Identity
    predicate: str
    dst: Identity


def identity(item: K8sObject) -> Identity:
    """The identity of an object; kinds that the ontology lacks are kept apart by their name."""
    name = item.name if item.entity_kind != "CustomResource" else f"{item.kind}/{item.name}"
    return Identity(item.entity_kind, item.place, name)


def references(items: Mapping[Identity, K8sObject]) -> tuple[Reference, ...]:
    """Every reference between objects that are all there, in a stable order, each once."""
    found: dict[Reference, None] = {}
    for one, item in items.items():
        for predicate, other in (*_declared(one, item), *_selected(one, item, items)):
            if other in items and other != one:
                found[Reference(one, predicate, other)] = None
    return tuple(sorted(found))


def _declared(one: Identity, item: K8sObject) -> Iterator[tuple[str, Identity]]:
    if item.entity_kind == "ReplicaSet" or item.entity_kind in ("Pod", "Job"):
        for owner in sequence(mapping(item.body.get("metadata")).get("ownerReferences")):
            kind, name = mapping(owner).get("kind"), mapping(owner).get("name")
            if isinstance(kind, str) and isinstance(name, str):
                yield "controlled_by", Identity(kind, one.namespace, name)
    for one_said in mentions(item):
        predicate = _PREDICATES.get(one_said.kind, "")
        if item.entity_kind in _BY_SOURCE:
            predicate = _BY_SOURCE[item.entity_kind].get(one_said.kind, "")
        if predicate:
            yield predicate, Identity(one_said.kind, one_said.namespace, one_said.name)
    if item.entity_kind == "Pod" and isinstance(pod_spec(item).get("nodeName"), str):
        yield "runs_on", Identity("Node", "", pod_spec(item)["nodeName"])
    if item.entity_kind in ("RoleBinding", "ClusterRoleBinding"):
        for subject in map(mapping, sequence(item.body.get("subjects"))):
            if subject.get("kind") == "ServiceAccount":
                place = str(subject.get("namespace") or one.namespace)
                yield "grants", Identity("ServiceAccount", place, str(subject.get("name")))


def _selected(
    one: Identity, item: K8sObject, items: Mapping[Identity, K8sObject]
) -> Iterator[tuple[str, Identity]]:
    if item.entity_kind not in ("K8sService", "Pdb", "NetworkPolicy"):
        return
    key = "podSelector" if item.entity_kind == "NetworkPolicy" else "selector"
    selector = item.spec.get(key)
    if item.entity_kind == "K8sService" and not selects_pods(selector):
        return
    if not isinstance(selector, Mapping):
        return
    for other, candidate in items.items():
        if other.namespace == one.namespace and other.kind in (*WORKLOADS, "Pod"):
            labels = pod_labels(candidate)
            if labels and label_match(selector, labels):
                yield "selects", other


def addresses(item: K8sObject) -> list[tuple[str, str]]:
    """Hosts that a workload's environment and arguments name, as (name, namespace or empty)."""
    found: dict[tuple[str, str], None] = {}
    for container in containers(item):
        for variable in sequence(container.get("env")):
            name, value = mapping(variable).get("name"), mapping(variable).get("value")
            if isinstance(name, str) and isinstance(value, str):
                found.update(dict.fromkeys(_hosts(value, named=bool(_ADDRESS_NAME.search(name)))))
        for word in (*sequence(container.get("args")), *sequence(container.get("command"))):
            if isinstance(word, str) and len(word) < 300:
                found.update(dict.fromkeys(_hosts(word.rpartition("=")[2], named=False)))
    return list(found)


def _hosts(value: str, *, named: bool) -> Iterator[tuple[str, str]]:
    """``named`` says that the variable's name promises an address, so that a bare name counts."""
    for part in value.strip().split(",")[:20]:
        scheme, _, rest = part.strip().rpartition("://")
        match = _HOST.fullmatch(rest.rpartition("@")[2].split("/")[0].lower())
        if match is None:
            continue
        if named or scheme or match[2] or match[3]:
            namespace = match[2].split(".")[1] if match[2] else ""
            yield match[1], namespace
