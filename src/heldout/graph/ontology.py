"""What a world may say: kinds of entities, predicates between them, and who said it.

Each predicate has a signature: the kinds it may start at and the kinds it may end at. A writer
checks against it, so that a reader need not. Organisational kinds first, then cloud, Kubernetes,
application and observability.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rapidfuzz import process

from heldout.errors import WorldError
from heldout.graph.schema import PROVENANCE, SOURCES

ORG_KINDS = (
    "Team", "Person", "Repository", "PullRequest", "IacStack", "Pipeline", "GitOpsApplication",
    "HelmRelease",
)  # fmt: skip
CLOUD_KINDS = (
    "CloudAccount", "Region", "Vpc", "Subnet", "SecurityGroup", "LoadBalancer", "DnsRecord",
    "Certificate", "IamRole", "IamPolicy", "InstanceProfile", "KmsKey", "DbInstance",
    "DbParameterGroup", "Cache", "Queue", "Bucket", "NodeGroup", "VmInstance", "Function",
    "QuotaLimit", "RouteTable", "NetworkAcl", "LaunchTemplate", "ApiGateway",
)  # fmt: skip
K8S_KINDS = (
    "Cluster", "Node", "Namespace", "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job",
    "ReplicaSet", "Pod", "K8sService", "Ingress", "IngressClass", "ConfigMap", "Secret", "Hpa",
    "Pdb", "Pvc", "PersistentVolume", "StorageClass", "PriorityClass", "NetworkPolicy",
    "ResourceQuota", "LimitRange", "ServiceAccount", "Role", "RoleBinding", "ClusterRole",
    "ClusterRoleBinding", "Webhook", "CustomResource",
)  # fmt: skip
APP_KINDS = ("Service", "FeatureFlag", "KafkaTopic", "ConsumerGroup", "ExternalDependency")
OBSERVABILITY_KINDS = ("AlertRule",)

KINDS: tuple[str, ...] = ORG_KINDS + CLOUD_KINDS + K8S_KINDS + APP_KINDS + OBSERVABILITY_KINDS
"""Every kind of entity, grouped by area, order fixed."""

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "ReplicaSet")
"""Kinds that make pods."""

_RUNNERS = (*WORKLOADS, "Pod", "Service", "Function", "VmInstance", "NodeGroup", "Node")
_STORES = ("DbInstance", "Cache", "Queue", "Bucket", "KafkaTopic")
_NETWORK = (
    "Vpc", "Subnet", "SecurityGroup", "NetworkAcl", "RouteTable", "LoadBalancer", "DnsRecord",
    "ApiGateway", "NetworkPolicy",
)  # fmt: skip
_CLAIMS = ("Pvc", "PersistentVolume")
_CALLABLE = (
    "Service", "ExternalDependency", "Function", "K8sService", "LoadBalancer", "ApiGateway",
    *_STORES,
)  # fmt: skip
_IDENTITIES = ("ServiceAccount", "IamRole", "InstanceProfile", "Secret", "Certificate")
_BINDINGS = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "IamPolicy")


class Signature(NamedTuple):
    """What a predicate may connect and what ``src pred dst`` means."""

    domain: frozenset[str]
    range: frozenset[str]
    meaning: str


def _signature(domain: Iterable[str], range_: Iterable[str], meaning: str) -> Signature:
    return Signature(frozenset(domain), frozenset(range_), meaning)


_RUNTIME_TARGETS = (
    "Node", "NodeGroup", "VmInstance", "Cluster", "Namespace", "Region", "Subnet", *WORKLOADS,
    "Pod", "CloudAccount", "Vpc",
)  # fmt: skip

PREDICATES: Mapping[str, Signature] = {
    "part_of": _signature(KINDS, KINDS, "src belongs to dst (pod to namespace, subnet to VPC)"),
    "runs_on": _signature(
        (*_RUNNERS, "Cluster", *_STORES, "ConsumerGroup", "LoadBalancer", "ApiGateway"),
        _RUNTIME_TARGETS,
        "src executes on dst",
    ),
    "controlled_by": _signature(
        (*_RUNNERS, "Pvc", "PersistentVolume", "K8sService", "Secret", "CustomResource"),
        (*WORKLOADS, "NodeGroup", "GitOpsApplication", "HelmRelease", "CustomResource"),
        "dst creates, replaces and removes src",
    ),
    "selects": _signature(
        ("K8sService", "NetworkPolicy", "Pdb", *WORKLOADS, "Webhook", "SecurityGroup"),
        ("Pod", *WORKLOADS, "Node", "Namespace", "VmInstance"),
        "src picks dst by labels",
    ),
    "routes_to": _signature(
        ("K8sService", "Ingress", "Service", *_NETWORK, "CustomResource"),
        (
            "K8sService", "Service", "Pod", *WORKLOADS, "VmInstance", "Function", *_NETWORK,
            *_STORES, "ExternalDependency", "Node", "Ingress", "NodeGroup", "CustomResource",
        ),
        "traffic that reaches src goes on to dst",
    ),
    "resolves_to": _signature(
        ("DnsRecord", "Service", "K8sService", "ExternalDependency"),
        (*_CALLABLE, *_NETWORK, "Ingress", "VmInstance", "Node", "CustomResource"),
        "the name src answers with dst",
    ),
    "terminates_tls_with": _signature(
        ("Ingress", "LoadBalancer", "Service", "K8sService", "ApiGateway", *_STORES, *WORKLOADS),
        ("Certificate", "Secret"),
        "src presents the certificate dst",
    ),
    "mounts": _signature(
        (*_RUNNERS, "ConsumerGroup", "Webhook", "Ingress", "ApiGateway", "LoadBalancer"),
        ("ConfigMap", "Secret", *_CLAIMS, "Bucket", "FeatureFlag", "Certificate"),
        "src reads dst as files, environment or settings",
    ),
    "uses_identity": _signature(
        (*_RUNNERS, "ConsumerGroup", "Pipeline", "Cluster", *_STORES, "Webhook", "IacStack"),
        _IDENTITIES,
        "src acts as dst",
    ),
    "assumes": _signature(
        ("ServiceAccount", "IamRole", "InstanceProfile", "Person", "Pipeline", "Service", "Node"),
        ("IamRole",),
        "src may take on the role dst",
    ),
    "grants": _signature(
        (*_BINDINGS, "IamRole", "KmsKey", "InstanceProfile"),
        (
            *_IDENTITIES, *_BINDINGS, *_STORES, "KmsKey", "Team", "Person", "Namespace", "Function",
            "ConfigMap", "Pod", "Service", "CustomResource",
        ),
        "src gives rights to or on dst",
    ),
    "guarded_by": _signature(
        (
            *_RUNNERS, *_STORES, *_NETWORK, "K8sService", "Ingress", "Namespace", "Cluster",
            "ExternalDependency", *_IDENTITIES, "CustomResource",
        ),
        (
            "SecurityGroup", "NetworkAcl", "NetworkPolicy", "IamPolicy", "Webhook", "Pdb",
            "RouteTable", "ResourceQuota", "QuotaLimit", "LimitRange",
        ),
        "dst decides what may reach or leave src",
    ),
    "encrypted_by": _signature(
        (*_STORES, "Secret", *_CLAIMS, "VmInstance", "StorageClass", "Cluster", "CustomResource"),
        ("KmsKey",),
        "src is readable only with the key dst",
    ),
    "calls": _signature(
        ("Service", "Function", "ConsumerGroup", *WORKLOADS, "Webhook", "ApiGateway"),
        _CALLABLE,
        "src sends requests to dst",
    ),
    "reads_writes": _signature(
        ("Service", "Function", "ConsumerGroup", *WORKLOADS),
        (*_STORES, "Pvc", "ExternalDependency"),
        "src keeps data in dst",
    ),
    "publishes_to": _signature(
        ("Service", "Function", *WORKLOADS, "DbInstance"),
        ("KafkaTopic", "Queue"),
        "src produces messages into dst",
    ),
    "consumes_from": _signature(
        ("Service", "Function", "ConsumerGroup", *WORKLOADS),
        ("KafkaTopic", "Queue", "ConsumerGroup"),
        "src takes messages from dst",
    ),
    "scales": _signature(
        ("Hpa", "NodeGroup", "Cluster", "AlertRule"),
        (*WORKLOADS, "NodeGroup", "Node", "Service", "Function", "DbInstance", "Cache"),
        "src sets the size of dst",
    ),
    "constrains": _signature(
        (
            "QuotaLimit", "ResourceQuota", "LimitRange", "PriorityClass", "Pdb", "StorageClass",
            "DbParameterGroup", "NetworkPolicy", "IngressClass", "Webhook", "LaunchTemplate",
            "FeatureFlag",
        ),
        KINDS,
        "src limits or parameterises dst",
    ),
    "declared_in": _signature(
        KINDS,
        (
            "IacStack", "Repository", "GitOpsApplication", "HelmRelease", "PullRequest",
            "LaunchTemplate", "Pipeline",
        ),
        "the desired state of src is written in dst",
    ),
    "built_from": _signature(
        (*_RUNNERS, "Pipeline", "GitOpsApplication", "HelmRelease", "IacStack", "ConsumerGroup"),
        ("Repository", "Pipeline", "LaunchTemplate", "PullRequest"),
        "src is made from dst",
    ),
    "owned_by": _signature(KINDS, ("Team", "Person"), "dst answers for src"),
    "watches": _signature(
        ("AlertRule", "Webhook", "GitOpsApplication", "Hpa", "Pipeline"),
        KINDS,
        "src observes dst",
    ),
}  # fmt: skip
"""The predicates, order fixed, with their signatures."""

BELONGING = frozenset({"part_of", "owned_by", "declared_in", "built_from", "watches"})
"""Predicates of belonging: no traffic, load or right passes along them."""

_KIND_SET = frozenset(KINDS)


def near(word: str, known: Iterable[str], *, limit: int = 3) -> tuple[str, ...]:
    """The known words that look most like ``word``, best first; empty when none comes close.

    Of those that come equally close the earlier one stands first, in a set by its letters.
    """
    choices = sorted(known) if isinstance(known, set | frozenset) else list(known)
    hits = process.extract(word[:200], choices, limit=limit, score_cutoff=55)
    return tuple(str(hit[0]) for hit in hits)


def _refuse(what: str, word: str, known: Iterable[str], where: str) -> WorldError:
    names = ", ".join(near(word, known))
    mend = f"Use one of: {names}" if names else "heldout.graph.ontology lists what is known"
    return WorldError(what, where=where, mend=mend)


def check_kind(kind: str, *, where: str = "entity") -> None:
    """Raise :class:`WorldError` unless ``kind`` is known."""
    if kind not in _KIND_SET:
        raise _refuse(f"'{kind}' is not a kind of entity", kind, KINDS, where)


def check_predicate(predicate: str, *, where: str = "edge") -> None:
    """Raise :class:`WorldError` unless ``predicate`` is known."""
    if predicate not in PREDICATES:
        raise _refuse(f"'{predicate}' is not a predicate", predicate, PREDICATES, where)


def fits(src_kind: str, predicate: str, dst_kind: str) -> bool:
    """Whether ``src_kind predicate dst_kind`` is known and fits the signature."""
    signature = PREDICATES.get(predicate)
    return signature is not None and src_kind in signature.domain and dst_kind in signature.range


def check_edge(src_kind: str, predicate: str, dst_kind: str, *, where: str = "edge") -> None:
    """Raise :class:`WorldError` unless ``src_kind predicate dst_kind`` fits the signature."""
    check_predicate(predicate, where=where)
    check_kind(src_kind, where=where)
    check_kind(dst_kind, where=where)
    signature = PREDICATES[predicate]
    if src_kind not in signature.domain:
        raise WorldError(
            f"'{predicate}' cannot start at a {src_kind}",
            where=where,
            mend=f"It starts at: {', '.join(sorted(signature.domain))}",
        )
    if dst_kind not in signature.range:
        raise WorldError(
            f"'{predicate}' cannot end at a {dst_kind}",
            where=where,
            mend=f"It ends at: {', '.join(sorted(signature.range))}",
        )


def check_provenance(provenance: str, confidence: float, source: str, *, where: str) -> None:
    """Raise :class:`WorldError` unless who said it, how sure, and through what are all known."""
    if provenance not in PROVENANCE:
        raise _refuse(f"'{provenance}' is not a provenance", provenance, PROVENANCE, where)
    if source not in SOURCES:
        raise _refuse(f"'{source}' is not a source", source, SOURCES, where)
    if not 0.0 <= confidence <= 1.0:
        raise WorldError(
            f"confidence {confidence} is outside 0..1", where=where, mend="Give a share of one"
        )


def allowed(src_kind: str, dst_kind: str) -> tuple[str, ...]:
    """Every predicate that may go from ``src_kind`` to ``dst_kind``."""
    return tuple(
        name
        for name, signature in PREDICATES.items()
        if src_kind in signature.domain and dst_kind in signature.range
    )
