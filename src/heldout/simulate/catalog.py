"""Which fields of which kinds change in ordinary life, and between which values.

Every fault adds its own field to the catalog of its holder's kind, so each world holds innocent
changes of that same field on other entities, healthy and suspicious values alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from heldout.simulate.estate_fields import CLOUD_KINDS, CLUSTER_KINDS, FieldSpec
from heldout.simulate.fault import faults

__all__ = ["CHANGING", "COUNTERS", "VERSIONED", "FieldSpec", "fields_of", "lent", "types_for"]


_PLAIN: Mapping[str, tuple[FieldSpec, ...]] = {
    "ConfigMap": (
        FieldSpec("data.{log level}", ("info", "debug", "warn")),
        FieldSpec("data.{http client timeout ms}", (1500, 2000, 3000, 5000, 8000)),
        FieldSpec("data.{retry attempts}", (1, 2, 3, 4)),
        FieldSpec("data.{page size default}", (20, 50, 100, 200)),
        FieldSpec("data.{cache ttl seconds}", (30, 60, 300, 900, 3600)),
        FieldSpec("data.{trace sample ratio}", (0.01, 0.05, 0.1, 0.25)),
        FieldSpec("data.{export batch rows}", (250, 500, 1000, 2000)),
        FieldSpec("data.{currency rounding}", ("half_even", "half_up")),
        FieldSpec("data.{locale fallback}", ("en", "de", "fr", "es")),
        FieldSpec("data.{shutdown grace seconds}", (10, 20, 30, 45)),
        FieldSpec("data.{gzip min bytes}", (512, 1024, 4096)),
        FieldSpec("data.{report timezone}", ("UTC", "Europe/Paris", "America/New_York")),
    ),
    "Deployment": (
        FieldSpec("cpu_limit", ("500m", "750m", "1", "2")),
        FieldSpec("memory_limit", ("512Mi", "768Mi", "1Gi", "2Gi")),
        FieldSpec("cpu_request", ("100m", "150m", "200m", "250m")),
        FieldSpec("min_ready_seconds", (0, 5, 10, 20)),
        FieldSpec("termination_grace_period_seconds", (20, 30, 45, 60)),
        FieldSpec("revision_history_limit", (2, 3, 5, 10)),
        FieldSpec("max_surge", ("25%", "1", "50%")),
        FieldSpec("labels.tier", ("a", "b", "c")),
    ),
    "Hpa": (
        FieldSpec("min_replicas", (2, 3, 4)),
        FieldSpec("target_cpu_utilization", (55, 60, 70, 75)),
        FieldSpec("scale_down_stabilization_seconds", (120, 300, 600)),
        FieldSpec("labels.review", ("q1", "q2", "q3", "q4")),
    ),
    "ResourceQuota": (
        FieldSpec("hard.pods", (60, 80, 120, 200)),
        FieldSpec("hard.services", (20, 40, 60)),
        FieldSpec("hard.persistentvolumeclaims", (5, 10, 20)),
        FieldSpec("labels.review", ("q1", "q2", "q3", "q4")),
    ),
    "Secret": (
        FieldSpec("labels.classification", ("internal", "restricted")),
        FieldSpec("annotations.reviewed", ("2026-01", "2026-02", "2026-03", "2026-04")),
        FieldSpec("replication.regions", (1, 2, 3)),
        FieldSpec("recovery.window_days", (7, 14, 30)),
    ),
    "IamPolicy": (
        FieldSpec("description", ("reviewed", "inherited", "generated", "narrowed")),
        FieldSpec("tags.cost_centre", ("a10", "b20", "c30", "d40")),
        FieldSpec("document.sid_prefix", ("Base", "App", "Shared")),
        FieldSpec("document.session_hours", (1, 4, 8, 12)),
    ),
    "IamRole": (
        FieldSpec("max_session_seconds", (3600, 7200, 14400)),
        FieldSpec("tags.owner_unit", ("a10", "b20", "c30")),
        FieldSpec("description", ("workload", "workload role", "managed")),
    ),
    "SecurityGroup": (
        FieldSpec("description", ("managed", "workload access", "data access")),
        FieldSpec("tags.review", ("2026-01", "2026-02", "2026-03")),
        FieldSpec("egress.https.cidrs", (["0.0.0.0/0"], ["10.0.0.0/8"])),
        FieldSpec("ingress.metrics.cidrs", (["10.2.0.0/16"], ["10.3.0.0/16"])),
    ),
    "Certificate": (
        FieldSpec("renew_before", ("360h", "480h", "720h")),
        FieldSpec("private_key_algorithm", ("RSA", "ECDSA")),
        FieldSpec("labels.class", ("mesh", "edge")),
        FieldSpec("duration", ("1440h", "2160h")),
    ),
    "DbParameterGroup": (
        FieldSpec("log_min_duration_ms", (200, 500, 1000)),
        FieldSpec("work_mem_mb", (4, 8, 16, 32)),
        FieldSpec("autovacuum_naptime_s", (15, 30, 60)),
        FieldSpec("random_page_cost", (1.1, 2.0, 4.0)),
        FieldSpec("track_io_timing", ("on", "off")),
    ),
    "DbInstance": (
        FieldSpec("backup_retention_days", (7, 14, 30)),
        FieldSpec("allocated_storage_gib", (100, 200, 400, 800)),
        FieldSpec("performance_insights", (True, False)),
    ),
    "Cache": (
        FieldSpec("snapshot_retention_days", (1, 3, 7)),
        FieldSpec("maintenance_window", ("sun:03", "mon:04", "tue:02")),
        FieldSpec("slowlog_threshold_us", (5000, 10000, 20000)),
        FieldSpec("tags.review", ("2026-01", "2026-02", "2026-03")),
    ),
    "KafkaTopic": (
        FieldSpec("config.min_insync_replicas", (1, 2)),
        FieldSpec("config.segment_ms", (3600000, 86400000, 604800000)),
        FieldSpec("config.compression_type", ("producer", "zstd", "lz4")),
        FieldSpec("labels.schema", ("v1", "v2", "v3")),
    ),
    "NodeGroup": (
        FieldSpec("launch_template.detailed_monitoring", (True, False)),
        FieldSpec("update.max_unavailable", (1, 2, 3)),
        FieldSpec("tags.review", ("2026-01", "2026-02", "2026-03")),
        FieldSpec("launch_template.metadata_hop_count", (1, 2)),
    ),
    "FeatureFlag": (
        FieldSpec("description", ("trial", "permanent", "clean up soon")),
        FieldSpec("environments.staging.percent", (0, 50, 100)),
        FieldSpec("tags.owner_unit", ("a10", "b20", "c30")),
        FieldSpec("track_events", (True, False)),
    ),
    "CronJob": (
        FieldSpec("successful_jobs_history_limit", (1, 3, 5)),
        FieldSpec("starting_deadline_seconds", (60, 200, 600)),
        FieldSpec("backoff_limit", (0, 2, 4)),
        FieldSpec("labels.class", ("nightly", "hourly")),
    ),
    "LoadBalancer": (
        FieldSpec("idle_timeout_s", (60, 120, 300)),
        FieldSpec("access_logs", (True, False)),
        FieldSpec("tags.review", ("2026-01", "2026-02", "2026-03")),
    ),
    "DnsRecord": (FieldSpec("ttl_s", (30, 60, 300)), FieldSpec("weight", (50, 100))),
    "Queue": (
        FieldSpec("visibility_timeout_s", (30, 60, 120)),
        FieldSpec("retention_days", (4, 7, 14)),
        FieldSpec("max_receives", (3, 5, 10)),
        FieldSpec("delay_s", (0, 5, 15)),
    ),
    "Bucket": (
        FieldSpec("lifecycle.expire_days", (30, 90, 365)),
        FieldSpec("versioning", (True, False)),
        FieldSpec("policy.tls_only", (True, False)),
        FieldSpec("tags.owner_unit", ("a10", "b20", "c30")),
    ),
    "Function": (
        FieldSpec("memory_mb", (256, 512, 1024)),
        FieldSpec("reserved_concurrency", (5, 10, 50)),
        FieldSpec("timeout_s", (10, 30, 60, 120)),
        FieldSpec("log_retention_days", (7, 14, 30)),
    ),
    "NetworkPolicy": (
        FieldSpec("egress_allow", (["mesh"], ["mesh", "dns"], ["mesh", "dns", "data"])),
        FieldSpec("labels.class", ("default", "data")),
    ),
    "Ingress": (
        FieldSpec("annotations.body_size", ("8m", "16m", "32m")),
        FieldSpec("annotations.rewrite", ("off", "on")),
        FieldSpec("annotations.read_timeout_s", (30, 60, 120)),
        FieldSpec("annotations.hsts", ("off", "on")),
    ),
    "AlertRule": (FieldSpec("for_minutes", (2, 5, 10)), FieldSpec("severity", ("page", "ticket"))),
    "QuotaLimit": (
        FieldSpec("value", (50, 100, 200, 500)),
        FieldSpec("alert_at_percent", (70, 80, 90)),
        FieldSpec("requested_increase", ("none", "pending", "granted")),
    ),
    **CLUSTER_KINDS,
    **CLOUD_KINDS,
}

COUNTERS = frozenset({"rotation.version", "restarts"})
"""Fields that only ever count up."""
VERSIONED = frozenset({"image"})
"""Fields whose value is a version that grows with time."""

_MADE = (
    "SecurityGroup", "IamPolicy", "IamRole", "DbInstance", "DbParameterGroup", "Cache",
    "NodeGroup", "LaunchTemplate", "LoadBalancer", "DnsRecord", "Queue", "Bucket", "Function",
    "RouteTable", "NetworkAcl", "KmsKey", "QuotaLimit", "Cluster", "Vpc", "Subnet", "ApiGateway",
    "InstanceProfile", "VmInstance",
)  # fmt: skip
"""What an account of a provider holds: applied from a stack, or changed by hand."""

CHANGING: Mapping[str, tuple[str, ...]] = {
    "config": (
        "ConfigMap", "Hpa", "ResourceQuota", "CronJob", "Deployment", "KafkaTopic",
        "NetworkPolicy", "Ingress", "AlertRule", "Webhook", "Role", "ClusterRole", "LimitRange",
        "GitOpsApplication", "HelmRelease", "Namespace", "Pvc", "PersistentVolume",
        "StorageClass", "PriorityClass", "IngressClass", "ServiceAccount", "K8sService", "Pdb",
        "DaemonSet", "StatefulSet", "Node", "Pipeline", "ConsumerGroup", "CustomResource",
        "RoleBinding", "ClusterRoleBinding", "Job", "IacStack",
    ),
    "iac_apply": (*_MADE, "KafkaTopic"),
    "cloud_api": (*_MADE, "CloudAccount"),
    "secret": ("Secret",),
    "certificate": ("Certificate",),
    "flag": ("FeatureFlag",),
}  # fmt: skip
"""Which kinds each type of human change touches."""


@cache
def fields_of(kind: str) -> tuple[FieldSpec, ...]:
    """Every field of a kind that changes, the faults' own fields included, in stable order."""
    specs = {spec.field: spec for spec in _PLAIN.get(kind, ())}
    for fault in faults().values():
        if fault.holder_kind != kind or not fault.field:
            continue
        _widen(specs, fault.field, [value for pair in fault.values for value in pair])
        for field, *values in fault.also:
            _widen(specs, field, values)
    return tuple(specs.values())


def _widen(specs: dict[str, FieldSpec], field: str, values: Sequence[Any]) -> None:
    """Let ``field`` take ``values`` as well, but for those that name another field."""
    known = list(specs[field].values) if field in specs else []
    for value in values:
        if value not in known and not str(value).startswith("="):
            known.append(value)
    specs[field] = FieldSpec(field, tuple(known))


def types_for(kind: str) -> tuple[str, ...]:
    """The types of change that touch a kind."""
    return tuple(name for name, kinds in CHANGING.items() if kind in kinds) or ("config",)


@cache
def lent() -> frozenset[tuple[str, str]]:
    """(kind, field) of every field that a fault uses."""
    return frozenset((fault.holder_kind, fault.field) for fault in faults().values() if fault.field)
