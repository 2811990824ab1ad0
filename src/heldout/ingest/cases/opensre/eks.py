"""Evidence of a Kubernetes case as the objects, events and lines that a cluster would give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.ingest import kubernetes
from heldout.ingest.cases.opensre.folder import CaseFolder
from heldout.ingest.draft import WorldDraft
from heldout.ingest.moments import moment
from heldout.ingest.objects import K8sObject, mapping, objects_in, sequence
from heldout.ingest.telemetry.levels import level_in, level_of
from heldout.ingest.telemetry.recording import Line
from heldout.ingest.telemetry.stamps import Clock
from heldout.ingest.telemetry.text import head_of

Body = dict[str, Any]


def into(draft: WorldDraft, case: CaseFolder) -> None:
    """Put a case's evidence into a draft: objects, events, logs, monitors, and what is missing."""
    cluster = str(case.scenario.get("cluster_name") or "cluster")
    found = [one.item for body in _bodies(case) for one in objects_in(body, "") if one.item]
    imported = kubernetes.of_objects([_clean(one, draft) for one in found], name=cluster)
    kubernetes.into(draft, imported, cluster=cluster, derives=False)
    draft.log_lines(_lines(draft, case))
    for monitor in map(
        mapping, sequence(case.evidence.get("datadog_monitors", {}).get("monitors"))
    ):
        draft.entity(
            "AlertRule",
            f"{cluster}/monitors/{monitor.get('id') or monitor.get('name')}",
            name=str(monitor.get("name")),
            cluster=cluster,
            facts={
                "expr": monitor.get("query"),
                "message": monitor.get("message"),
                "state": monitor.get("overall_state"),
            },
        )


def _clean(item: K8sObject, draft: WorldDraft) -> K8sObject:
    body = draft.redactor.object(dict(item.body), is_secret=False)
    return K8sObject(item.kind, item.api_version, item.namespace, item.name, body)


def _bodies(case: CaseFolder) -> Iterator[Body]:
    evidence = case.evidence
    workload = str(case.scenario.get("workload_name") or "")
    for node in map(mapping, sequence(evidence.get("eks_node_health", {}).get("nodes"))):
        yield _node(node)
    for one in map(mapping, sequence(evidence.get("eks_deployments", {}).get("deployments"))):
        yield _deployment(one)
    makers: set[tuple[str, str]] = set()
    for pod in map(mapping, sequence(evidence.get("eks_pods", {}).get("pods"))):
        maker = str(pod.get("name")).rpartition("-")[0]
        if (str(pod.get("namespace")), maker) not in makers:
            makers.add((str(pod.get("namespace")), maker))
            yield _replica_set(maker, str(pod.get("namespace")), workload)
        yield _pod(pod, maker, workload)
    for number, event in enumerate(sequence(evidence.get("eks_events", {}).get("warning_events"))):
        yield from _event(number, mapping(event), makers)


def _node(node: Mapping[str, Any]) -> Body:
    pressures = {
        "Ready": node.get("ready"),
        "MemoryPressure": node.get("memory_pressure"),
        "DiskPressure": node.get("disk_pressure"),
        "PIDPressure": node.get("pid_pressure"),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node.get("name"),
            "labels": {"node.kubernetes.io/instance-type": node.get("instance_type")},
        },
        "status": {
            "conditions": [
                {"type": key, "status": said} for key, said in pressures.items() if said
            ],
            "capacity": {
                "cpu": node.get("capacity_cpu"),
                "memory": node.get("capacity_memory"),
            },
            "allocatable": {
                "cpu": node.get("allocatable_cpu"),
                "memory": node.get("allocatable_memory"),
            },
            "addresses": [{"type": "InternalIP", "address": node.get("internal_ip")}],
        },
    }


def _deployment(one: Mapping[str, Any]) -> Body:
    labels = {"app": one.get("name")}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": one.get("name"), "namespace": one.get("namespace")},
        "spec": {
            "replicas": one.get("desired"),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}},
        },
        "status": {
            "readyReplicas": one.get("ready"),
            "availableReplicas": one.get("available"),
            "unavailableReplicas": one.get("unavailable"),
        },
    }


def _replica_set(name: str, namespace: str, workload: str) -> Body:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "ownerReferences": [{"kind": "Deployment", "name": workload}],
        },
    }


def _pod(pod: Mapping[str, Any], maker: str, workload: str) -> Body:
    metadata: Body = {
        "name": pod.get("name"),
        "namespace": pod.get("namespace"),
        "labels": {"app": workload},
        "ownerReferences": [{"kind": "ReplicaSet", "name": maker}],
        "creationTimestamp": pod.get("start_time"),
    }
    if pod.get("deletion_timestamp"):
        metadata["deletionTimestamp"] = pod["deletion_timestamp"]
    containers = [mapping(one) for one in sequence(pod.get("containers"))]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "nodeName": pod.get("node_name"),
            "containers": [{"name": one.get("name")} for one in containers],
        },
        "status": {
            "phase": pod.get("phase"),
            "startTime": pod.get("start_time"),
            "conditions": list(sequence(pod.get("conditions"))),
            "containerStatuses": [_container(one) for one in containers],
        },
    }


def _container(one: Mapping[str, Any]) -> Body:
    told = mapping(one.get("state"))
    word = next((key for key in ("waiting", "terminated", "running") if told.get(key)), "waiting")
    inner = {"reason": told.get("reason"), "message": told.get("message")}
    if word == "running":
        inner = {"startedAt": told.get("started_at")}
    body: Body = {
        "name": one.get("name"),
        "ready": one.get("ready"),
        "restartCount": one.get("restart_count"),
        "state": {word: {key: said for key, said in inner.items() if said}},
    }
    if told.get("exit_code") is not None:
        body["lastState"] = {"terminated": {"exitCode": told["exit_code"]}}
    return body


def _event(number: int, event: Mapping[str, Any], makers: set[tuple[str, str]]) -> Iterator[Body]:
    """An event, and what it is about where nothing else tells of that."""
    kind, _, name = str(event.get("involved_object")).partition("/")
    place = "" if kind == "Node" else str(event.get("namespace"))
    if kind == "ResourceQuota" or (kind == "ReplicaSet" and (place, name) not in makers):
        yield {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": place},
        }
    yield {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"event-{number}", "namespace": event.get("namespace")},
        "involvedObject": {"kind": kind, "name": name, "namespace": place},
        "reason": event.get("reason"),
        "message": f"{event.get('message')} (x{event.get('count') or 1})",
        "type": event.get("type"),
        "count": event.get("count"),
        "firstTimestamp": event.get("first_time"),
        "lastTimestamp": event.get("last_time"),
    }


def _lines(draft: WorldDraft, case: CaseFolder) -> Iterator[Line]:
    for one in map(mapping, sequence(case.evidence.get("datadog_logs", {}).get("logs"))):
        at = moment(one.get("timestamp"))
        if at is not None:
            said = str(one.get("message"))
            yield at, _speaker(draft, case, one), level_of(one.get("status")) or "INFO", said
    told = case.evidence.get("eks_pod_logs", {})
    pod = _found(draft, "Pod", str(told.get("pod_name")))
    clock, last = Clock(0), None  # Every line has its year.
    for line in str(told.get("logs") or "").splitlines() if pod else ():
        head = head_of(line, clock)
        at = head.ts if head.ts is not None else last
        if at is not None and line.strip():
            last = at
            yield at, pod, head.level or level_in(line) or "INFO", head.text or line


def _speaker(draft: WorldDraft, case: CaseFolder, one: Mapping[str, Any]) -> str:
    """What wrote a line: the pod or node that its host names, else its workload."""
    host = str(one.get("host") or "")
    workload = str(case.scenario.get("workload_name") or "")
    return (
        _found(draft, "Pod", host)
        or _found(draft, "Node", host)
        or _found(draft, "Deployment", str(one.get("service") or ""))
        or _found(draft, "Deployment", workload)
        or next(iter(draft.find(kind="Cluster")), "")
    )


def _found(draft: WorldDraft, kind: str, name: str) -> str:
    return next(iter(draft.find(kind=kind, name=name)), "") if name else ""
