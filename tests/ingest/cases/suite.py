"""A small suite in the shape of opensre's, with names and contents of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CLUSTER = {
    "schema_version": "1.0", "engine": "eks", "cluster_name": "harbour-eks", "namespace": "ferry",
    "workload_name": "tickets", "region": "eu-north-1", "failure_mode": "healthy",
    "available_evidence": [
        "eks_pods", "eks_events", "eks_deployments", "eks_node_health", "datadog_logs",
        "datadog_monitors",
    ],
}  # fmt: skip
DATABASE = {
    "engine": "postgres", "engine_version": "15", "instance_class": "db.r6g.large",
    "region": "eu-north-1", "db_instance_identifier": "manifest-db", "failure_mode": "lost_quay",
    "available_evidence": [
        "aws_cloudwatch_metrics", "aws_rds_events", "aws_performance_insights",
    ],
}  # fmt: skip


def write(folder: Path, **files: Any) -> None:
    """Write files of a case; ``scenario`` and ``answer`` are YAML, which JSON is too."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in files.items():
        suffix = "yml" if name in ("scenario", "answer") else "json"
        (folder / f"{name}.{suffix}").write_text(json.dumps(body), encoding="utf-8")


def pod(name: str, node: str, *, waiting: str = "") -> dict[str, Any]:
    """A pod as the suites tell of one."""
    state = {"waiting": True, "reason": waiting} if waiting else {"running": True}
    return {
        "name": name, "namespace": "ferry", "phase": "Running", "node_name": node,
        "start_time": "2031-05-02T08:00:00Z",
        "containers": [
            {"name": "tickets", "ready": not waiting, "restart_count": 0, "state": state}
        ],
        "conditions": [{"type": "Ready", "status": "False" if waiting else "True"}],
    }  # fmt: skip


def suite(root: Path) -> Path:
    """A base, a Kubernetes fault, a database fault without metrics of its own, and no fault."""
    eks = root / "eks"
    write(
        eks / "000-base",
        scenario=CLUSTER,
        answer={"root_cause_category": "healthy", "required_keywords": ["normal"],
                "model_response": "ROOT_CAUSE: Nothing is wrong with tickets.\n"},
        alert=alert("Scheduled check", k8s_failure_mode="none"),
        eks_pods={"pods": [pod("tickets-5f4d8c9b7c-aaaaa", "node-a")]},
        eks_events={"warning_events": []},
        eks_deployments={"deployments": [
            {"name": "tickets", "namespace": "ferry", "desired": 1, "ready": 1, "available": 1}]},
        eks_node_health={"nodes": [node("node-a"), node("node-b")]},
        datadog_logs={"logs": [log("served", "tickets-5f4d8c9b7c-aaaaa")]},
        datadog_monitors={"monitors": [
            {"id": 7, "name": "error share", "query": "avg:x > 1", "overall_state": "OK"}]},
    )  # fmt: skip
    write(
        eks / "001-squalid-anchor",
        scenario={"base": "000-base", "failure_mode": "squalid_anchor"},
        answer={"root_cause_category": "configuration_error", "required_keywords": ["anchor"],
                "model_response": "ROOT_CAUSE: The anchor of tickets is squalid.\n"},
        alert=alert("Pods of tickets wait", k8s_failure_mode="squalid_anchor"),
        eks_pods={"pods": [pod("tickets-5f4d8c9b7c-aaaaa", "node-a", waiting="CrashLoopBackOff")]},
        eks_events={"warning_events": [
            {"namespace": "ferry", "reason": "BackOff", "message": "back-off", "type": "Warning",
             "count": 3, "involved_object": "Pod/tickets-5f4d8c9b7c-aaaaa",
             "first_time": "2031-05-02T09:00:00Z", "last_time": "2031-05-02T09:20:00Z"}]},
    )  # fmt: skip
    write(
        root / "rds" / "002-lost-quay",
        scenario=DATABASE,
        answer={"root_cause_category": "infrastructure", "required_keywords": ["quay"],
                "model_response": "ROOT_CAUSE: The quay was lost.\n"},
        alert=alert("Writes wait", rds_failure_mode="lost_quay", read_replica="manifest-db-replica"),
        aws_cloudwatch_metrics={"metric_data_results": [
            {"metric_name": "ReplicaLag", "unit": "Seconds",
             "dimensions": [{"Name": "DBInstanceIdentifier", "Value": "manifest-db-replica"}],
             "timestamps": [f"2031-05-02T09:0{n}:00Z" for n in range(5)],
             "values": [1.0, 2.0, 3.0, 4.0, 5.0]}]},
        aws_rds_events={"events": [
            {"date": "2031-05-02T08:58:00Z", "message": "Parameter group applied.",
             "source_identifier": "manifest-db", "event_categories": ["configuration change"]}]},
        aws_performance_insights={
            "db_instance_identifier": "manifest-db",
            "db_load": {"timestamps": ["2031-05-02T09:00:00Z", "2031-05-02T09:01:00Z"],
                        "values": [0.5, 6.5]},
            "top_sql": [{"statement": "UPDATE berths SET taken = $1", "db_load_avg": 5.0}]},
    )  # fmt: skip
    return root


def alert(title: str, **notes: str) -> dict[str, Any]:
    """An alert whose annotations tell the cause, as the suites' do."""
    return {
        "title": f"[synthetic-k8s] {title}",
        "commonLabels": {
            "alertname": "Waiting", "severity": "critical", "service": "tickets",
            "cluster_name": "harbour-eks", "pipeline_name": "k8s-eks-synthetic",
        },
        "commonAnnotations": {"summary": f"{title}.", "context_sources": "eks", **notes},
    }  # fmt: skip


def node(name: str) -> dict[str, Any]:
    """A node that is ready."""
    return {
        "name": name, "ready": "True", "memory_pressure": "False", "capacity_cpu": "4",
        "allocatable_cpu": "3500m", "instance_type": "m5.xlarge",
    }  # fmt: skip


def log(text: str, host: str) -> dict[str, Any]:
    """A line of a pod."""
    return {
        "timestamp": "2031-05-02T08:30:00Z", "message": text, "status": "info", "host": host,
        "service": "tickets",
    }  # fmt: skip
