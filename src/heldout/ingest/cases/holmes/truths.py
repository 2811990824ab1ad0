"""What the right answer of each case is: accept sets by hand, from what each case requires.

The fixtures ask a model whether required statements occur in an answer, so that one which lists six
causes passes. Here an answer names the thing at fault and one term of each group. A case
without a line here is read from its own statements: what they name in backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.ingest.cases.case import truth
from heldout.ingest.draft import WorldDraft
from heldout.truth import Truth
from heldout.truth.truths import NONE

Terms = tuple[tuple[str, ...], ...]

NOT_DIAGNOSES = {
    "51_logs_summarize_errors": "it asks for a summary of errors, not for a cause",
    "57_wrong_namespace": "it asks for logs of something that is not there",
}
"""Cases that test how tools are used and have no cause to be named."""
NOT_IN_IT = {
    "22_high_latency_dbi_down": "its cause, a stopped database, is in none of its material",
}
"""Diagnoses that nobody could make from what was recorded."""
_NEVER = frozenset({"AlertRule", "CustomResource", "Namespace", "ServiceAccount", "Cluster"})
"""Kinds that a name may begin like without being what is at fault."""
OVER = (
    "healthy", "not an issue", "no issue", "no problem", "expected", "by design", "always firing",
    "always active", "running normally", "nothing is wrong", "normal",
)  # fmt: skip
_OOM: Terms = (("oom", "oomkilled", "oom killed", "out of memory", "memory"),)
_GPU: Terms = (
    ("gpu", "nvidia.com/gpu"),
    ("insufficient", "no node", "not available", "unavailable", "none", "lack", "missing",
     "not enough"),
)  # fmt: skip
_PULL: Terms = (("image",), ("pull", "pulled", "imagepullbackoff", "errimagepull", "not found",
                             "does not exist"))  # fmt: skip
_DB: Terms = (("prod-db", "database", "db"), ("connect", "connection", "unreachable", "resolve",
                                             "reach", "refused"))  # fmt: skip
_EGRESS: Terms = (("network policy", "networkpolicy", "default-deny-egress", "egress"),
                  ("deny", "denies", "block", "blocks", "blocked", "default-deny-egress",
                   "blocking"))  # fmt: skip
_SLOW_DB: Terms = (("database", "db", "query", "sql"), ("slow", "latency", "seconds", "long"))
_ENV: Terms = (("deploy_env",), ("undefined", "missing", "not set", "unset", "not defined"))


@dataclass(frozen=True, slots=True)
class Key:
    """``at`` are the things that may be named, as beginnings of names, the first one at fault."""

    at: tuple[str, ...]
    terms: Terms
    group: str


KEYS: Mapping[str, Key] = {
    "02_what_is_wrong_with_pod": Key(("giant-narwhal",), _OOM, "oom"),
    "07_high_latency": Key(("customer-orders",), _SLOW_DB, "slow-database"),
    "09_crashpod": Key(("payment-processing-worker",), _ENV, "missing-variable"),
    "10_image_pull_backoff": Key(("customer-relations-webapp",), _PULL, "image-pull"),
    "12_job_crashing": Key(("java-api-checker",), _DB, "job-database"),
    "13b_pending_node_selector_detailed": Key(
        ("user-profile-import",), (("nodeselector", "node selector", "label"),), "node-selector"),
    "14_pending_resources": Key(("user-profile-resources",), _GPU, "gpu"),
    "157_disk_full_statefulset": Key(
        ("data-processor", "data"), (("disk", "volume", "pvc", "space", "storage"),
                                     ("full", "no space", "100mi", "exhausted", "out of")),
        "disk-full"),
    "15_failed_readiness_probe": Key(
        ("search-engine",), (("readiness",), ("fail", "fails", "failing", "failed")), "readiness"),
    "161_bidding_version_performance": Key(
        ("bidder-app-v2", "bidder"), (("v2.0", "v2", "version", "2.0"),), "new-version"),
    "17_oom_kill": Key(("analytics-exporter-fast",), _OOM, "oom"),
    "18_oom_kill_from_issues_history": Key(("analytics-exporter-fast",), _OOM, "oom"),
    "22_high_latency_dbi_down": Key(
        ("customer-orders-for-medium", "promotions-db"),
        (("promotions-db", "rds", "database"), ("stopped", "stopping", "down", "unavailable")),
        "database-stopped"),
    "24b_misconfigured_pvc_detailed": Key(
        ("redis",), (("storageclass", "storage class", "standard-v2"),), "storage-class"),
    "35_tempo": Key(("fraud",), _SLOW_DB, "slow-span"),
    "37_argocd_wrong_namespace": Key(
        ("demo-app",), (("namespace",), ("my-demoshop-namespaces", "typo", "does not exist",
                                         "wrong")), "wrong-namespace"),
    "42_dns_issues_result_all_tools": Key(("default-deny-egress",), _EGRESS, "deny-egress"),
    "42_dns_issues_result_new_tools_no_runbook": Key(
        ("default-deny-egress",), _EGRESS, "deny-egress"),
    "46_job_crashing_no_longer_exists": Key(
        ("typescript-transpiler", "java-api-checker"), _DB, "job-database"),
    "55_kafka_runbook": Key(
        ("invoices", "finance"), (("email", "e-mail", "mail"), ("slow", "seconds", "latency")),
        "slow-consumer"),
    "65_health_check_followup": Key((), (OVER,), "healthy"),
    "76_service_discovery_issue": Key(
        ("backend",), (("selector", "label", "version"), ("v2", "v1", "match", "mismatch",
                                                          "endpoints")), "selector"),
    "77_liveness_probe_misconfiguration": Key(
        ("web-app",), (("liveness", "probe"), ("port", "8080", "80")), "liveness"),
    "78a_missing_cpu_limits": Key(
        ("api-server", "compute-quota"), (("limits.cpu", "cpu limit", "limit", "limits"),
                                          ("quota", "resourcequota")), "quota"),
    "78b_cpu_quota_exceeded": Key(
        ("api-server", "compute-quota", "quota"), (("quota", "resourcequota"), ("cpu",)), "quota"),
    "79_configmap_mount_issue": Key(
        ("app-server", "app-config"), (("configmap", "config map", "app-config"),
                                       ("missing", "not found", "exist", "absent")), "configmap"),
    "80_pvc_storage_class_mismatch": Key(
        ("database", "db", "fast-ssd", "data"), (("storageclass", "storage class", "fast-ssd"),),
        "storage-class"),
    "82_pod_anti_affinity_conflict": Key(
        ("silver-puffin",), (("anti-affinity", "antiaffinity", "anti affinity"),), "anti-affinity"),
    "84_network_policy_blocking_traffic": Key(
        ("backend-network-policy", "backend"), (("networkpolicy", "network policy"),),
        "network-policy"),
    "86_configmap_like_but_secret": Key(
        ("frontend", "frontend-api-keys"), (("secret",), ("missing", "not found", "exist",
                                                          "absent", "frontend-api-keys")),
        "secret"),
    "01_oom_kill": Key(("analytics-exporter-fast",), _OOM, "oom"),
    "02_crashloop_backoff": Key(
        ("logging-agent",), (("wge", "wget"), ("not found", "typo", "command", "executable")),
        "wrong-command"),
    "04_image_pull_backoff": Key(("customer-relations-webapp",), _PULL, "image-pull"),
    "05_crashpod": Key(
        ("db-certs-authenticator",), (("certificate", "ssl", "tls", "cert"),
                                      ("expired", "expiry", "expiration")), "certificate"),
    "06_job_failure": Key(("java-api-checker",), _DB, "job-database"),
    "08_memory_pressure": Key(
        ("ip-172-31-40-111",), (("pods", "pod"), ("too many", "capacity", "limit", "maximum",
                                                  "many")), "node-capacity"),
    "09_high_latency": Key(
        ("customer-orders",), (("checkout", "/checkout", "http"), ("slow", "seconds", "latency",
                                                                   "longer")), "slow-database"),
    "10_KubeDeploymentReplicasMismatch": Key(("user-profile-resources",), _GPU, "gpu"),
    "11_KubePodCrashLooping": Key(("payment-processing-worker",), _ENV, "missing-variable"),
    "12_KubePodNotReady": Key(("user-profile-resources",), _GPU, "gpu"),
    "13_Watchdog": Key((), (OVER, ("watchdog", "alertmanager", "pipeline", "alerting")), "healthy"),
    "14_tempo": Key(("fraud",), _SLOW_DB, "slow-span"),
    "15_dns_resolution": Key(("default-deny-egress",), _EGRESS, "deny-egress"),
}  # fmt: skip
"""Cases by the names of their folders; a group is a cause, whose cases stand on one side."""
_QUOTED = re.compile(r"`([^`]{2,80})`")


def key_of(name: str, required: Sequence[str]) -> Key:
    """The accept sets of a case."""
    if name in KEYS:
        return KEYS[name]
    quoted = [word for text in required for word in _QUOTED.findall(text)]
    return Key(tuple(quoted), tuple((word,) for word in quoted), name)


def _may_be(draft: WorldDraft, entity: str) -> bool:
    """Whether something may be named: an application of GitOps is a custom resource that may."""
    kind = draft.kind(entity)
    return kind not in _NEVER or draft.value(entity, "kind") == "Application"


def truth_of(key: Key, required: Sequence[str], draft: WorldDraft) -> Truth | None:
    """The truth in the ids of a draft; ``None`` where nothing at fault is in it to be named."""
    said = " ".join(required) or "unknown"
    if not key.at:
        return truth("", said, key.terms, accepted=(NONE, *draft.find(kind="Pod")))
    entities = [
        one
        for begins in key.at
        for one in draft.find()
        if draft.title(one).startswith(begins) and _may_be(draft, one)
    ]
    if not entities:
        return None
    return truth(entities[0], said, key.terms, accepted=tuple(entities))
