"""Where a line or a series comes from: from fields and file names to an entity of the world.

The finest thing that is named is the place: a pod before its workload, a workload before a
service, a service before a node. What the world does not have yet is added, as observed where
telemetry names it, as inferred where only a file does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_MORE = ("kubernetes", "k8s", "kube", "labels", "stream", "resource", "metadata")


class Place(NamedTuple):
    """Names as telemetry gives them, empty where it gives none.

    ``kind`` and ``name`` are those of a thing that is neither pod nor service: a workload, a
    queue, a function. ``named_by`` is ``file`` where only a file's own name tells.
    """

    cluster: str = ""
    namespace: str = ""
    pod: str = ""
    container: str = ""
    service: str = ""
    node: str = ""
    kind: str = ""
    name: str = ""
    named_by: str = "field"

    def over(self, other: Place) -> Place:
        """This place, with what it does not name taken from another."""
        if self == NOWHERE:
            return other
        own = (self.pod, self.name, self.service)
        if any(own) and other.named_by == "file":
            return self._replace(cluster=self.cluster or other.cluster)
        names = {key: value for key, value in other._asdict().items() if key != "named_by"}
        mine = {key: value for key, value in self._asdict().items() if value}
        return Place(**{**names, **mine})


NOWHERE = Place()

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "cluster": (
        "cluster_name", "k8s.cluster.name", "cluster", "kubernetes.cluster_name",
        "resource.labels.cluster_name",
    ),
    "namespace": (
        "exported_namespace", "kubernetes.namespace_name", "namespace_name", "k8s.namespace.name",
        "kubernetes.namespace", "namespace", "kubernetes_namespace", "kubernetes_namespace_name",
        "pod_namespace", "kube_namespace", "resource.labels.namespace_name",
    ),
    "pod": (
        "exported_pod", "kubernetes.pod_name", "kubernetes.pod.name", "pod_name", "k8s.pod.name",
        "kubernetes.pod", "pod", "podname", "kubernetes_pod_name", "pod.name",
        "resource.labels.pod_name",
    ),
    "container": (
        "exported_container", "kubernetes.container_name", "kubernetes.container.name",
        "container_name", "k8s.container.name", "container.name", "container", "containername",
        "kubernetes_container_name", "resource.labels.container_name",
    ),
    "service": (
        "service.name", "service_name", "exported_service", "destination_service_name", "service",
        "dd.service", "servicename", "app.kubernetes.io/name", "app_kubernetes_io_name",
        "kubernetes.labels.app", "kubernetes.labels.app.kubernetes.io/name", "app", "application",
        "microservice", "k8s_app", "k8s-app", "component_name",
    ),
    "node": (
        "kubernetes.host", "k8s.node.name", "kubernetes.node.name", "node_name", "node",
        "exported_node", "nodename", "host.name", "hostname", "_hostname", "host", "instance_name",
    ),
}  # fmt: skip
_THINGS: tuple[tuple[str, str], ...] = (
    ("k8s.deployment.name", "Deployment"), ("kubernetes.deployment.name", "Deployment"),
    ("deployment", "Deployment"), ("statefulset", "StatefulSet"),
    ("k8s.statefulset.name", "StatefulSet"), ("daemonset", "DaemonSet"),
    ("k8s.daemonset.name", "DaemonSet"), ("job_name", "Job"), ("k8s.job.name", "Job"),
    ("cronjob", "CronJob"), ("replicaset", "ReplicaSet"), ("horizontalpodautoscaler", "Hpa"),
    ("persistentvolumeclaim", "Pvc"), ("persistentvolume", "PersistentVolume"),
    ("poddisruptionbudget", "Pdb"), ("ingress", "Ingress"), ("dbinstance_identifier", "DbInstance"),
    ("dbinstanceidentifier", "DbInstance"), ("function_name", "Function"),
    ("functionname", "Function"), ("queue_name", "Queue"), ("queuename", "Queue"),
    ("topic", "KafkaTopic"), ("consumergroup", "ConsumerGroup"), ("bucket_name", "Bucket"),
    ("loadbalancer", "LoadBalancer"), ("load_balancer", "LoadBalancer"),
)  # fmt: skip
"""Labels that name a thing of a kind. ``job`` is not among them: it is a scrape job's name."""

NAMING = frozenset(
    {name for names in _FIELDS.values() for name in names} | {name for name, _ in _THINGS}
)
"""Every field that names a place; such fields need not be said again in a line's text."""

_UNPLACED = ("", "none", "null", "unknown", "n/a", "-", "localhost", "127.0.0.1", "0.0.0.0")
_PART = "[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?"
_FILES = tuple(
    re.compile(pattern)
    for pattern in (
        # kubelet's links, also as Fluentd tags: <pod>_<namespace>_<container>-<64 hex>.log
        rf"(?:^|[/.])(?P<pod>{_PART})_(?P<namespace>{_PART})_(?P<container>{_PART})"
        r"-(?:[0-9a-f]{12,64}|\d+)(?:\.log)?$",
        # /var/log/pods/<namespace>_<pod>_<uid>/<container>/0.log
        rf"(?:^|/)(?P<namespace>{_PART})_(?P<pod>{_PART})_[0-9a-f-]{{8,36}}/(?P<container>{_PART})/",
        # must-gather: namespaces/<ns>/pods/<pod>/[containers/]<container>/
        rf"(?:^|/)namespaces/(?P<namespace>{_PART})/pods/(?P<pod>{_PART})"
        rf"(?:/(?:containers/)?(?P<container>{_PART})/)?",
        # insights archive: config/pod/<ns>/logs/<pod>/errors.log
        rf"(?:^|/)pod/(?P<namespace>{_PART})/logs/(?P<pod>{_PART})/",
        # support bundle: cluster-resources/pods/logs/<ns>/<pod>/<container>.log
        rf"(?:^|/)pods/logs/(?P<namespace>{_PART})/(?P<pod>{_PART})/(?P<container>{_PART})\.log",
        rf"(?:^|/)nodes?/(?:logs/)?(?P<node>{_PART}?)(?:\.log|/)",
    )
)
_LONGEST_PATH = 512
_ROTATED = re.compile(
    r"(?:[._-](?:\d{4}-?\d\d-?\d\d\w*|\d{1,3}|current|previous|log|gz|out|err))+$"
)
_SUFFIX = re.compile(r"(?:\.(?:gz|log|logs|txt|jsonl|ndjson|json|csv|tsv|prom|out|err))+$", re.I)


def place_of(fields: Mapping[str, str]) -> Place:
    """The place that fields name; keys are lower case, nested ones joined by dots."""
    found = {}
    for part, names in _FIELDS.items():
        for name in names:
            value = fields.get(name)
            if value and value.lower() not in _UNPLACED:
                found[part] = value[:253]
                break
    kind, name = next(
        ((kind, fields[name][:253]) for name, kind in _THINGS if fields.get(name)), ("", "")
    )
    tag = fields.get("filename") or fields.get("log.file.path") or fields.get("tag") or ""
    if not found.get("pod") and ("/" in tag or "_" in tag):
        by_tag = place_of_file(tag)
        if by_tag.pod:
            found = {**by_tag._asdict(), **found, "named_by": "field"}
    found = {key: value for key, value in found.items() if key not in ("kind", "name")}
    return Place(**found, kind=kind, name=name) if found or name else NOWHERE


def place_of_file(path: str) -> Place:
    """The place that a file's path tells: kubelet's and bundles' layouts, else its name."""
    for pattern in _FILES:
        match = pattern.search(path[-_LONGEST_PATH:])
        if match:
            named = {key: value for key, value in match.groupdict().items() if value}
            return Place(**named)
    stem = _SUFFIX.sub("", path.rsplit("/", 1)[-1])
    stem = _ROTATED.sub("", stem) or stem
    return Place(service=stem[:253], named_by="file") if stem else NOWHERE
