"""Facts beside an object's own fields: what it refers to, asks for, and is found in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from heldout.graph.status.rule import whole
from heldout.ingest.mentions import mentions
from heldout.ingest.objects import K8sObject, mapping, sequence
from heldout.ingest.podspec import Fields, demands

_ENDED = ("Complete", "Failed")


def observations(item: K8sObject) -> Fields:
    """What the checks of health read of one object; what it does not say has no fact."""
    found: Fields = {}
    said = [one.plain() for one in mentions(item)]
    if said:
        found["references"] = list({repr(one): one for one in said}.values())
    found.update(demands(item))
    metadata = mapping(item.body.get("metadata"))
    if isinstance(metadata.get("deletionTimestamp"), str):
        found["deleting_since"] = metadata["deletionTimestamp"]
        found["finalizers"] = [str(one) for one in sequence(metadata.get("finalizers"))]
    reader = _BY_KIND.get(item.entity_kind)
    if reader is not None:
        found.update(reader(item))
    return found


def _of_pod(item: K8sObject) -> Fields:
    conditions = {
        mapping(one).get("type"): mapping(one) for one in sequence(item.status.get("conditions"))
    }
    scheduled = conditions.get("PodScheduled", {})
    found: Fields = {}
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        found["unschedulable"] = True
    states = dict(_container_states(item))
    if states:
        found["container_states"] = states
    annotations = mapping(mapping(item.body.get("metadata")).get("annotations"))
    if "vpaUpdates" in annotations or mapping(item.status).get("resize"):
        found["resized"] = True
    return found


def _container_states(item: K8sObject) -> Iterator[tuple[str, Fields]]:
    for one in map(mapping, sequence(item.status.get("containerStatuses"))):
        for state in ("waiting", "running", "terminated"):
            inner = mapping(mapping(one.get("state")).get(state))
            if inner or state in mapping(one.get("state")):
                last = mapping(mapping(one.get("lastState")).get("terminated"))
                said = {
                    "reason": inner.get("reason"),
                    "exit_code": inner.get("exitCode"),
                    "started_at": inner.get("startedAt"),
                    "finished_at": inner.get("finishedAt"),
                    "ready": one.get("ready"),
                    "restarts": one.get("restartCount"),
                    "last_reason": last.get("reason"),
                    "last_exit_code": last.get("exitCode"),
                    "last_finished_at": last.get("finishedAt"),
                }
                kept = {key: value for key, value in said.items() if value is not None}
                yield str(one.get("name")), {"state": state, **kept}
                break


def _of_maker(item: K8sObject) -> Fields:
    """Of what makes pods: how many it has made and brought up to date, and whether it goes on.

    A Deployment's status leaves out that it has made none, where it has seen the spec.
    """
    status = item.status
    found: Fields = {}
    for field, keys in (
        ("made_replicas", ("replicas", "currentNumberScheduled")),
        ("updated_replicas", ("updatedReplicas", "updatedNumberScheduled")),
    ):
        told = [number for key in keys if (number := whole(status.get(key))) is not None]
        if told:
            found[field] = told[0]
    if item.kind == "Deployment" and "observedGeneration" in status:
        found.setdefault("made_replicas", 0)
    if item.spec.get("paused") is True:
        found["paused"] = True
    for one in map(mapping, sequence(status.get("conditions"))):
        if item.kind == "Deployment" and one.get("type") == "Progressing":
            found["progressing"] = {key: one.get(key) for key in ("status", "reason")}
    return found


def _of_job(item: K8sObject) -> Fields:
    """Whether it has ended and why, else what has become of its pods."""
    found: Fields = {}
    for one in map(mapping, sequence(item.status.get("conditions"))):
        if one.get("status") == "True" and one.get("type") in _ENDED and not found:
            found["status"] = one["type"]
            if isinstance(one.get("reason"), str):
                found["ended_because"] = one["reason"]
    for field in ("active", "failed", "succeeded"):
        if whole(item.status.get(field)) is not None:
            found[field] = item.status[field]
    if whole(item.spec.get("completions")) is not None:
        found["completions"] = item.spec["completions"]
    if item.spec.get("suspend") is True:
        found["suspend"] = True
    return found


def _of_cron_job(item: K8sObject) -> Fields:
    """How many of its Jobs run now."""
    running = sequence(item.status.get("active"))
    return {"active": len(running)} if running else {}


def _of_secret(item: K8sObject) -> Fields:
    """When its data were last written, where the server's own records of writers are there."""
    times = [
        mapping(one).get("time")
        for one in sequence(mapping(item.body.get("metadata")).get("managedFields"))
        if {"f:data", "f:stringData"} & mapping(mapping(one).get("fieldsV1")).keys()
    ]
    known = [time for time in times if isinstance(time, str)]
    return {"data_written_at": max(known)} if known else {}


def _of_quota(item: K8sObject) -> Fields:
    """Whether it counts only some of the pods."""
    narrow = [*sequence(item.spec.get("scopes")), *mapping(item.spec.get("scopeSelector"))]
    return {"scopes": [str(one) for one in narrow]} if narrow else {}


def _of_limit_range(item: K8sObject) -> Fields:
    most: dict[str, str] = {}
    for limit in map(mapping, sequence(item.spec.get("limits"))):
        if limit.get("type") == "Container":
            most.update({str(k): str(v) for k, v in mapping(limit.get("max")).items()})
    return {"container_max": most} if most else {}


def _of_budget(item: K8sObject) -> Fields:
    found: Fields = {}
    if isinstance(item.spec.get("selector"), Mapping):
        found["pod_selector"] = dict(item.spec["selector"])
    for name, key in (("min_available", "minAvailable"), ("max_unavailable", "maxUnavailable")):
        if item.spec.get(key) is not None:
            found[name] = item.spec[key]
    return found


def _of_autoscaler(item: K8sObject) -> Fields:
    """The resources whose use it reads as a share of the request."""
    metrics = item.spec.get("metrics")
    if item.spec.get("targetCPUUtilizationPercentage") is not None or not metrics:
        return {"utilization_of": ["cpu"]}
    found = [
        str(resource.get("name"))
        for one in map(mapping, sequence(metrics))
        if (resource := mapping(one.get("resource")))
        and (
            mapping(resource.get("target")).get("type") == "Utilization"
            or resource.get("targetAverageUtilization") is not None
        )
    ]
    return {"utilization_of": found} if found else {}


def _of_ingress(item: K8sObject) -> Fields:
    annotations = mapping(mapping(item.body.get("metadata")).get("annotations"))
    routes: list[Any] = []
    for rule in map(mapping, sequence(item.spec.get("rules"))):
        for path in map(mapping, sequence(mapping(rule.get("http")).get("paths"))):
            kind = path.get("pathType") or ""
            routes.append([str(rule.get("host") or ""), str(path.get("path") or "/"), str(kind)])
    found: Fields = {
        "routes": routes,
        "class": item.spec.get("ingressClassName")
        or annotations.get("kubernetes.io/ingress.class"),
        "merged_by": sorted(
            key for key in annotations if "canary" in key or "mergeable-ingress" in key
        ),
        "is_served": bool(mapping(item.status.get("loadBalancer")).get("ingress")),
    }
    return {name: value for name, value in found.items() if value}


_BY_KIND: Mapping[str, Callable[[K8sObject], Fields]] = {
    "Pod": _of_pod,
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), _of_maker),
    "Job": _of_job,
    "CronJob": _of_cron_job,
    "Secret": _of_secret,
    "ResourceQuota": _of_quota,
    "LimitRange": _of_limit_range,
    "Pdb": _of_budget,
    "Hpa": _of_autoscaler,
    "Ingress": _of_ingress,
}
