"""Kubernetes objects out of documents: lists opened, kinds inferred, names checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from heldout.ingest.reading import has_hole

KINDS: Mapping[str, str] = {
    "Deployment": "Deployment", "StatefulSet": "StatefulSet", "DaemonSet": "DaemonSet",
    "ReplicaSet": "ReplicaSet", "Job": "Job", "CronJob": "CronJob", "Pod": "Pod",
    "Service": "K8sService", "Ingress": "Ingress", "IngressClass": "IngressClass",
    "ConfigMap": "ConfigMap", "Secret": "Secret", "HorizontalPodAutoscaler": "Hpa",
    "PodDisruptionBudget": "Pdb", "PersistentVolumeClaim": "Pvc",
    "PersistentVolume": "PersistentVolume", "StorageClass": "StorageClass",
    "PriorityClass": "PriorityClass", "NetworkPolicy": "NetworkPolicy",
    "ResourceQuota": "ResourceQuota", "LimitRange": "LimitRange",
    "ServiceAccount": "ServiceAccount", "Role": "Role", "RoleBinding": "RoleBinding",
    "ClusterRole": "ClusterRole", "ClusterRoleBinding": "ClusterRoleBinding",
    "ValidatingWebhookConfiguration": "Webhook", "MutatingWebhookConfiguration": "Webhook",
    "Namespace": "Namespace", "Node": "Node", "HelmRelease": "HelmRelease",
    "Application": "GitOpsApplication",
}  # fmt: skip
"""Kubernetes kinds that the ontology knows; any other becomes a ``CustomResource``."""

CLUSTER_WIDE = frozenset(
    {
        "Namespace", "Node", "PersistentVolume", "StorageClass", "PriorityClass", "IngressClass",
        "ClusterRole", "ClusterRoleBinding", "Webhook",
    }
)  # fmt: skip
_CORE_GROUPS = ("", "networking.k8s.io", "extensions")
_IRREGULAR = {
    "ingresses": "Ingress", "networkpolicies": "NetworkPolicy", "storageclasses": "StorageClass",
    "priorityclasses": "PriorityClass", "ingressclasses": "IngressClass",
    "pvcs": "PersistentVolumeClaim",
    "pdbs": "PodDisruptionBudget", "hpas": "HorizontalPodAutoscaler", "svc": "Service",
    "events": "Event", "event": "Event", "endpoints": "Endpoints", "quotas": "ResourceQuota",
}  # fmt: skip
_BY_FOLDER: Mapping[str, str] = {
    **{kind.lower(): kind for kind in KINDS},
    **{f"{kind.lower()}s": kind for kind in KINDS},
    **_IRREGULAR,
}


@dataclass(frozen=True, slots=True)
class K8sObject:
    """One object as it was found: ``kind`` is Kubernetes' own word, ``body`` is redacted."""

    kind: str
    api_version: str
    namespace: str
    name: str
    body: Mapping[str, Any] = field(repr=False)
    file: str = ""

    @property
    def entity_kind(self) -> str:
        """The ontology's word for its kind."""
        group = self.api_version.rpartition("/")[0]
        if self.kind in ("Service", "Ingress") and group not in _CORE_GROUPS:
            return "CustomResource"
        return KINDS.get(self.kind, "CustomResource")

    @property
    def is_known(self) -> bool:
        """Whether the ontology has a word for it."""
        return self.kind == "Event" or self.entity_kind != "CustomResource"

    @property
    def place(self) -> str:
        """Its namespace, ``default`` where it has none though its kind has one."""
        return "" if self.entity_kind in CLUSTER_WIDE else self.namespace or "default"

    @property
    def spec(self) -> Mapping[str, Any]:
        """Its ``spec``, empty where there is none."""
        return mapping(self.body.get("spec"))

    @property
    def status(self) -> Mapping[str, Any]:
        """Its ``status``, empty where there is none."""
        return mapping(self.body.get("status"))

    @property
    def labels(self) -> dict[str, str]:
        """Its labels as text."""
        found = mapping(mapping(self.body.get("metadata")).get("labels"))
        return {key: str(value) for key, value in found.items()}


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def kind_from_path(path: str) -> str:
    """The kind that a file's name or the nearest folder above it tells, empty where none does."""
    parts = PurePosixPath(path)
    for part in (parts.stem, *reversed(parts.parts[:-1])):
        found = _BY_FOLDER.get(part.lower().replace("_", "").replace("-", ""))
        if found:
            return found
    return ""


@dataclass(frozen=True, slots=True)
class Found:
    """One item of a document: an object, or why it is none."""

    item: K8sObject | None
    problem: str = ""


def objects_in(
    document: Any, path: str, *, list_kind: str = "", list_version: str = ""
) -> Iterator[Found]:
    """Every object of a document, with lists opened and missing kinds inferred.

    What a typed list says of its items counts before the path, and what an item says before both.
    """
    if isinstance(document, list):
        for inner in document:
            yield from objects_in(inner, path, list_kind=list_kind, list_version=list_version)
        return
    if not isinstance(document, Mapping):
        yield Found(None, "an item is no object")
        return
    kind = document.get("kind")
    items = document.get("items")
    if isinstance(items, list) and (kind is None or str(kind).endswith("List")):
        named = str(kind or "").removesuffix("List")
        version = str(document.get("apiVersion") or "") if named else list_version
        for inner in items:
            yield from objects_in(inner, path, list_kind=named or list_kind, list_version=version)
        return
    yield _object(document, path, list_kind, list_version)


def _object(document: Mapping[str, Any], path: str, list_kind: str, list_version: str) -> Found:
    metadata = mapping(document.get("metadata"))
    name = metadata.get("name")
    if not isinstance(name, str | int) or name == "":
        return Found(None, "an item has no name")
    if has_hole(name) or has_hole(metadata.get("namespace")):
        return Found(None, "templated")
    kind = document.get("kind") or list_kind or kind_from_path(path)
    if not isinstance(kind, str) or not kind:
        return Found(None, f"kind of '{str(name)[:60]}' cannot be inferred")
    namespace = metadata.get("namespace")
    return Found(
        K8sObject(
            kind=kind,
            api_version=str(document.get("apiVersion") or list_version),
            namespace=namespace if isinstance(namespace, str) else "",
            name=str(name),
            body=document,
            file=path,
        )
    )
