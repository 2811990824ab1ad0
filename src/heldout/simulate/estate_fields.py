"""Fields of what clusters and accounts consist of, part of the catalog of ordinary changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class FieldSpec(NamedTuple):
    """A field (words in braces take the organisation's style) and the values it takes."""

    field: str
    values: tuple[Any, ...]


_QUARTERS = ("q1", "q2", "q3", "q4")
_MONTHS = ("2026-01", "2026-02", "2026-03")
_UNITS = ("a10", "b20", "c30")

CLUSTER_KINDS: Mapping[str, tuple[FieldSpec, ...]] = {
    "Webhook": (
        FieldSpec("failure_policy", ("Ignore", "Fail")),
        FieldSpec("timeout_seconds", (3, 5, 10)),
        FieldSpec("match_policy", ("Equivalent", "Exact")),
        FieldSpec("reinvocation_policy", ("Never", "IfNeeded")),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "Role": (
        FieldSpec("rules.configmaps.verbs", (["get"], ["get", "list"], ["get", "list", "watch"])),
        FieldSpec("rules.pods.verbs", (["get"], ["get", "list"])),
        FieldSpec("rules.leases.verbs", (["get", "update"], ["get", "create", "update"])),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "ClusterRole": (
        FieldSpec("rules.nodes.verbs", (["get"], ["get", "list"])),
        FieldSpec("rules.namespaces.verbs", (["get"], ["get", "list", "watch"])),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "RoleBinding": (FieldSpec("labels.review", _QUARTERS),),
    "ClusterRoleBinding": (FieldSpec("labels.review", _QUARTERS),),
    "ServiceAccount": (
        FieldSpec("automount_token", (True, False)),
        FieldSpec("annotations.token_hours", (1, 12, 24)),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "GitOpsApplication": (
        FieldSpec("sync_policy.prune", (True, False)),
        FieldSpec("sync_policy.self_heal", (True, False)),
        FieldSpec("sync_policy.retry_limit", (2, 3, 5)),
        FieldSpec("ignore_differences", ([], ["replicas"], ["replicas", "annotations"])),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "HelmRelease": (
        FieldSpec("chart_version", ("4.11.1", "4.12.0", "4.12.3", "4.13.0")),
        FieldSpec("values.replicas", (2, 3)),
        FieldSpec("values.log_level", ("info", "warn")),
        FieldSpec("history_max", (5, 10)),
    ),
    "Namespace": (
        FieldSpec("labels.pod_security", ("baseline", "restricted")),
        FieldSpec("labels.cost_centre", _UNITS),
        FieldSpec("annotations.contact", ("chat", "mail", "page")),
        FieldSpec("labels.mesh", ("on", "off")),
    ),
    "LimitRange": (
        FieldSpec("max.memory", ("4Gi", "8Gi", "16Gi")),
        FieldSpec("max.cpu", ("2", "4", "8")),
        FieldSpec("default_cpu_request", ("50m", "100m", "200m")),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "Pvc": (
        FieldSpec("size_gib", (10, 20, 50, 100)),
        FieldSpec("annotations.backup", ("daily", "weekly")),
        FieldSpec("labels.class", ("work", "export")),
    ),
    "PersistentVolume": (
        FieldSpec("reclaim_policy", ("Delete", "Retain")),
        FieldSpec("mount_options", ([], ["noatime"], ["noatime", "nodiratime"])),
        FieldSpec("labels.class", ("work", "export")),
    ),
    "StorageClass": (
        FieldSpec("parameters.iops", (3000, 4000, 6000)),
        FieldSpec("reclaim_policy", ("Delete", "Retain")),
        FieldSpec("allow_expansion", (True, False)),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "PriorityClass": (
        FieldSpec("value", (1000, 10000, 100000)),
        FieldSpec("preemption_policy", ("PreemptLowerPriority", "Never")),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "IngressClass": (
        FieldSpec("parameters.worker_connections", (4096, 8192, 16384)),
        FieldSpec("parameters.keepalive_s", (30, 60, 75)),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "K8sService": (
        FieldSpec("session_affinity", ("None", "ClientIP")),
        FieldSpec("internal_traffic_policy", ("Cluster", "Local")),
        FieldSpec("annotations.topology_mode", ("auto", "off")),
        FieldSpec("labels.tier", ("a", "b", "c")),
    ),
    "Pdb": (
        FieldSpec("unhealthy_pod_eviction", ("IfHealthyBudget", "AlwaysAllow")),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "DaemonSet": (
        FieldSpec("max_unavailable", (1, 2, "10%")),
        FieldSpec("memory_limit", ("128Mi", "256Mi", "512Mi")),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "StatefulSet": (
        FieldSpec("partition", (0, 1, 2)),
        FieldSpec("memory_limit", ("1Gi", "2Gi", "4Gi")),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "Node": (
        FieldSpec("labels.maintenance", ("none", "planned", "done")),
        FieldSpec("kubelet_config.max_pods", (58, 110, 234)),
        FieldSpec("annotations.drain_group", ("a", "b", "c")),
        FieldSpec("labels.review", _QUARTERS),
    ),
    "Cluster": (
        FieldSpec("logging.audit", (True, False)),
        FieldSpec("endpoint.public_cidrs", (["10.0.0.0/8"], ["10.0.0.0/8", "172.16.0.0/12"])),
        FieldSpec("upgrade_policy", ("standard", "extended")),
        FieldSpec("tags.review", _MONTHS),
    ),
    "Pipeline": (
        FieldSpec("stages", (3, 4, 5)),
        FieldSpec("timeout_minutes", (20, 40, 60)),
        FieldSpec("required_approvals", (0, 1, 2)),
        FieldSpec("concurrency_group", ("branch", "repository")),
    ),
    "ConsumerGroup": (
        FieldSpec("session_timeout_ms", (10000, 30000, 45000)),
        FieldSpec("assignment", ("range", "sticky", "cooperative")),
        FieldSpec("labels.schema", ("v1", "v2", "v3")),
    ),
    "CustomResource": (FieldSpec("labels.review", _QUARTERS),),
    "Job": (FieldSpec("labels.review", _QUARTERS), FieldSpec("backoff_limit", (0, 2, 4))),
}

CLOUD_KINDS: Mapping[str, tuple[FieldSpec, ...]] = {
    "RouteTable": (
        FieldSpec("routes.egress.target", ("nat-a", "nat-b", "nat-c")),
        FieldSpec("routes.peer.target", ("peering-1", "peering-2")),
        FieldSpec("propagation", (True, False)),
        FieldSpec("tags.review", _MONTHS),
    ),
    "NetworkAcl": (
        FieldSpec("ingress.mesh.action", ("allow", "deny")),
        FieldSpec("egress.ephemeral.ports", ("1024-65535", "32768-60999")),
        FieldSpec("ingress.admin.cidrs", (["10.2.0.0/16"], ["10.3.0.0/16"])),
        FieldSpec("tags.review", _MONTHS),
    ),
    "KmsKey": (
        FieldSpec("rotation_days", (90, 180, 365)),
        FieldSpec("policy.admins", (["platform"], ["platform", "security"])),
        FieldSpec("deletion_window_days", (7, 14, 30)),
        FieldSpec("tags.review", _MONTHS),
    ),
    "LaunchTemplate": (
        FieldSpec("detailed_monitoring", (True, False)),
        FieldSpec("metadata_hop_count", (1, 2)),
        FieldSpec("user_data.revision", ("r40", "r41", "r42", "r43")),
        FieldSpec("volume.throughput_mib", (125, 250, 500)),
        FieldSpec("tags.review", _MONTHS),
    ),
    "InstanceProfile": (FieldSpec("tags.review", _MONTHS), FieldSpec("path", ("/", "/nodes/"))),
    "Vpc": (
        FieldSpec("dns_hostnames", (True, False)),
        FieldSpec("flow_logs", ("all", "rejected", "off")),
        FieldSpec("dhcp_options", ("standard", "internal")),
        FieldSpec("tags.review", _MONTHS),
    ),
    "Subnet": (
        FieldSpec("auto_assign_ipv6", (True, False)),
        FieldSpec("free_address_alarm", (64, 128, 256)),
        FieldSpec("tags.tier", ("private", "data")),
        FieldSpec("tags.review", _MONTHS),
    ),
    "ApiGateway": (
        FieldSpec("throttle.burst", (200, 500, 1000)),
        FieldSpec("timeout_ms", (15000, 29000)),
        FieldSpec("access_logs", (True, False)),
    ),
    "VmInstance": (
        FieldSpec("instance_type", ("m6.large", "m6.xlarge", "m7.large")),
        FieldSpec("termination_guard", (True, False)),
        FieldSpec("tags.review", _MONTHS),
    ),
    "IacStack": (
        FieldSpec("drift_detection", ("daily", "weekly", "off")),
        FieldSpec("lock_timeout_s", (60, 300)),
        FieldSpec("tags.owner_unit", _UNITS),
    ),
    "CloudAccount": (
        FieldSpec("budget.monthly_keur", (20, 40, 80)),
        FieldSpec("tags.owner_unit", _UNITS),
    ),
}
