"""General knowledge of an operations engineer: which kinds of things hold settings, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Function", "Job", "CronJob", "Rollout")
HINTS: Mapping[str, str] = {
    "ConfigMap": "config setting key parameter pool worker thread heap client timeout retry",
    "Deployment": "image version release column rollout replica lookup dns ndots memory limit oom "
    "probe selector priority scheduling node",
    "StatefulSet": "image version release replica volume",
    "Hpa": "replica scaling scale autoscaler ceiling metric target",
    "ResourceQuota": "quota forbidden exceeded",
    "LimitRange": "limit exceeded range",
    "Cache": "cache evicted eviction maxmemory memory key ttl shard",
    "DbInstance": "database sql query connection storage slot standby zone failover",
    "DbCluster": "database sql query connection storage slot",
    "DbParameterGroup": "database parameter connection slot lock statement",
    "Queue": "queue message visibility redelivery delivered",
    "KafkaTopic": "topic record message offset partition retention lag segment schema shape",
    "Bucket": "bucket object expired lifecycle principal denied policy",
    "Secret": "password credential secret rotated rotation authentication token login registry key",
    "Certificate": "certificate tls handshake issuer x509 expired chain authority serial suffix",
    "IamRole": "denied permission authorized role policy assume access",
    "IamPolicy": "denied permission authorized policy access",
    "Role": "forbidden verb role permission rule get list watch read",
    "ClusterRole": "forbidden verb role permission rule get list watch read",
    "SecurityGroup": "syn dial ingress egress port subnet cidr refused rule",
    "NetworkPolicy": "ingress egress policy refused allow deny",
    "NetworkAcl": "syn dial port subnet cidr rule reply answer packet",
    "RouteTable": "route subnet table association unreachable",
    "KmsKey": "key decrypt decryption encrypt encryption version",
    "FeatureFlag": "flag percent variant exposure rollout fallback",
    "NodeGroup": "node disk space image template evicted mtu packet network kernel",
    "LaunchTemplate": "node disk space image template",
    "QuotaLimit": "quota limit vcpu cpu capacity instance account",
    "Cluster": "cluster api server token addon network prefix address pod node",
    "CronJob": "run schedule overlapping concurrency job batch parallelism",
    "Function": "function concurrency invocation throttled memory reserved",
    "Ingress": "ingress rewrite host path upstream header rule weight zone cross waf record",
    "LoadBalancer": "balancer rule target listener address zone",
    "DnsRecord": "dns lookup nxdomain resolve record ttl address name",
    "K8sService": "endpoint traffic policy local health check reference node selector port",
    "Webhook": "webhook admission policy admit refused create",
    "Namespace": "namespace label exemption exempt admission",
    "GitOpsApplication": "sync heal replica application manifest declared reset",
    "HelmRelease": "chart value release",
    "Pvc": "volume claim mount attach access mode disk",
    "StorageClass": "volume storage class provision binding",
    "ServiceAccount": "token account identity mount",
    "ExternalDependency": "provider partner plan quota limit account outside",
}
"""Kinds that carry settings, with the words in which their troubles are usually told."""
STORES = frozenset(
    {"Cache", "DbInstance", "DbCluster", "Database", "Queue", "KafkaTopic", "Bucket"}
)
SPEAKING = frozenset(
    {
        *STORES,
        *WORKLOADS,
        "Service",
        "ExternalDependency",
        "Pod",
        "Node",
        "LoadBalancer",
        "ApiGateway",
    }
)
"""Kinds that write logs of their own, so that errors can be followed to them."""
PASSIVE = frozenset(
    ["Pod", "Node", "Team", "Person", "Repository", "Region", "Zone", "CloudAccount", "PullRequest",
     "IacStack", "Pipeline", "Vpc"]
)  # fmt: skip
"""Kinds whose own fields never explain a failure."""
BARE = frozenset(
    ["Service", "AlertRule", "Dashboard", "ReplicaSet", "Pdb", "ConsumerGroup", "Subnet"]
)
"""Kinds that seldom carry the setting; read last."""
SHARED = frozenset(["Namespace", "NodeGroup", "Cluster", "K8sService", "ServiceAccount", "Ingress"])
"""Kinds that are read only where a message speaks of their matters."""


class Onward(NamedTuple):
    """Where else settings lie from a kind of thing: edges to follow, and what is found there."""

    predicates: tuple[str, ...]
    direction: str
    behind: tuple[str, ...]


ONWARD: Mapping[str, tuple[Onward, ...]] = {
    "Namespace": (
        Onward(("constrains",), "in", ("NetworkPolicy", "ResourceQuota", "LimitRange", "Webhook")),
    ),
    "NodeGroup": (
        Onward(("constrains",), "in", ("QuotaLimit", "LaunchTemplate")),
        Onward(("uses_identity", "runs_on"), "out", ("Secret", "Cluster")),
    ),
    "ServiceAccount": (Onward(("grants", "assumes"), "both", ("Role", "ClusterRole", "IamRole")),),
    "IamRole": (Onward(("grants",), "in", ("IamPolicy",)),),
    "K8sService": (Onward(("routes_to",), "in", ("Ingress",)),),
    "Ingress": (Onward(("routes_to", "constrains"), "in", ("LoadBalancer", "IngressClass")),),
    "LoadBalancer": (Onward(("resolves_to",), "in", ("DnsRecord",)),),
    "Subnet": (Onward(("routes_to", "guarded_by"), "both", ("RouteTable", "NetworkAcl")),),
    "DbInstance": (
        Onward(
            ("constrains", "guarded_by", "encrypted_by", "part_of", "reads_writes"), "both",
            ("DbParameterGroup", "SecurityGroup", "KmsKey", "CronJob", "Subnet"),
        ),
    ),
    "Cache": (Onward(("constrains", "guarded_by", "part_of"), "both", ("SecurityGroup",)),),
    "Pvc": (Onward(("constrains", "controlled_by"), "both", ("StorageClass",)),),
    "Bucket": (Onward(("encrypted_by", "grants"), "both", ("KmsKey", "IamPolicy")),),
    "Function": (Onward(("uses_identity", "constrains"), "both", ("IamRole",)),),
}  # fmt: skip
