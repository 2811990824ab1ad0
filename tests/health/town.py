"""A small healthy cluster as ``kubectl get -A -o json`` lists it, named by a seed.

Everything that the checks of health read is there, so that a fault can be made by one change.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from heldout.graph.health import Finding, check_health
from heldout.graph.snapshot import Edge, Entity, Snapshot
from heldout.graph.topology import Topology
from heldout.ingest.kubernetes import read, topology

NOW = 1_772_625_600_000_000  # 2026-03-04T12:00:00Z
EARLY, RECENT = "2026-03-04T08:00:00Z", "2026-03-04T11:55:00Z"
Thing = dict[str, Any]

_SYLLABLES = ("ka", "lo", "mi", "ren", "su", "tal", "vor", "wen", "bri", "dul")


class Town:
    """Objects of one made-up cluster; two seeds share no name."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)

        def name() -> str:
            return "".join(draw.choices(_SYLLABLES, k=3)) + str(seed)

        self.ns, self.app, self.caller, self.store, self.job = (name() for _ in range(5))
        self.nodes = [f"node-{name()}" for _ in range(2)]
        self.pool = name()
        self.items: list[Thing] = []
        self._cluster()
        self._workload(self.app, env=self._env(), port=8080)
        self._workload(self.caller, env=[{"name": "API_URL", "value": f"http://{self.app}:80"}])
        self._stateful()
        self._batch()
        self._around()

    def add(self, kind: str, name: str, *, wide: bool = False, **body: Any) -> Thing:
        """Add an object; ``metadata`` is merged."""
        metadata = {"name": name, "uid": f"uid-{kind}-{name}", **body.pop("metadata", {})}
        if not wide:
            metadata.setdefault("namespace", self.ns)
        thing = {"kind": kind, "apiVersion": "v1", "metadata": metadata, **body}
        self.items.append(thing)
        return thing

    def one(self, kind: str, name: str = "") -> Thing:
        """The object of a kind and name, or the only one of its kind."""
        found = [one for one in self.items
                 if one["kind"] == kind and name in ("", one["metadata"]["name"])]  # fmt: skip
        assert len(found) == 1, (kind, name, len(found))
        return found[0]

    def drop(self, kind: str, name: str = "") -> None:
        """Take an object out of the cluster."""
        self.items.remove(self.one(kind, name))

    def makers(self, name: str) -> list[Thing]:
        """A Deployment and its ReplicaSet."""
        return [self.one("Deployment", name), self.one("ReplicaSet", f"{name}-5f")]

    def specs(self, name: str) -> list[Thing]:
        """The pod specs of a workload: of its Deployment, its ReplicaSet and its pods."""
        found = [one["spec"]["template"]["spec"] for one in self.makers(name)]
        return [*found, *(pod["spec"] for pod in self.pods(name))]

    def pods(self, name: str) -> list[Thing]:
        """The pods of a workload."""
        return [one for one in self.items if one["kind"] == "Pod"
                and one["metadata"]["labels"].get("app") == name]  # fmt: skip

    def wait(self, pod: Thing, *, unschedulable: bool = True) -> Thing:
        """Make a pod one that waits for a node."""
        pod["spec"].pop("nodeName", None)
        said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        pod["status"] = {"phase": "Pending", "conditions": [said] if unschedulable else []}
        return pod

    def _cluster(self) -> None:
        self.add("Namespace", self.ns, wide=True, status={"phase": "Active"})
        self.add("ConfigMap", "kube-root-ca.crt", data={"ca.crt": "..."})
        self.add("ServiceAccount", "default")
        for number, node in enumerate(self.nodes):
            labels = {"pool": self.pool, "zone": f"z{number}"}
            ready = {"type": "Ready", "status": "True"}
            room = {"cpu": "4", "memory": "16Gi"}
            self.add("Node", node, wide=True, metadata={"labels": labels}, spec={},
                     status={"conditions": [ready], "allocatable": room})  # fmt: skip
        self.add("StorageClass", "fast", wide=True, provisioner="disks.example.test")
        self.add("PriorityClass", "steady", wide=True, value=1000)
        self.add("IngressClass", "edge", wide=True, spec={"controller": "example.test/edge"})
        self.add("ResourceQuota", "share", spec={"hard": {"pods": "20", "requests.memory": "8Gi"}},
                 status={"used": {"pods": "7", "requests.memory": "1Gi"}})  # fmt: skip
        bounds = {"type": "Container", "max": {"memory": "1Gi", "cpu": "2"}}
        self.add("LimitRange", "bounds", spec={"limits": [bounds]})

    def _env(self) -> list[Thing]:
        key = {"name": f"{self.app}-settings", "key": "mode"}
        secret = {"name": f"{self.app}-keys", "key": "login"}
        return [
            {"name": "MODE", "valueFrom": {"configMapKeyRef": key}},
            {"name": "LOGIN", "valueFrom": {"secretKeyRef": secret}},
            {"name": "STORE_HOST", "value": f"{self.store}-0.{self.store}.{self.ns}.svc"},
        ]

    def _spec(self, env: list[Thing], port: int) -> Thing:
        demands = {"requests": {"cpu": "100m", "memory": "64Mi"},
                   "limits": {"cpu": "500m", "memory": "128Mi"}}  # fmt: skip
        ports = [{"name": "web", "containerPort": port}]
        probe = {"httpGet": {"path": "/ready", "port": "web"}}
        server = {"name": "server", "image": "example.test/server:1", "env": env, "ports": ports,
                  "resources": demands, "readinessProbe": probe}  # fmt: skip
        return {
            "containers": [server],
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default",
            "priorityClassName": "steady",
            "nodeSelector": {"pool": self.pool},
            "volumes": [{"name": "files", "configMap": {"name": f"{self.app}-settings"}}],
        }

    def _pod(self, name: str, app: str, spec: Thing, owner: Thing, node: str) -> Thing:
        running = {"name": "server", "ready": True, "restartCount": 0,
                   "state": {"running": {"startedAt": EARLY}}}  # fmt: skip
        ready = [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}]
        status = {"phase": "Running", "conditions": ready, "containerStatuses": [running]}
        return self.add("Pod", name, metadata={"labels": {"app": app}, "ownerReferences": [owner]},
                        spec={**json.loads(json.dumps(spec)), "nodeName": node},
                        status=status)  # fmt: skip

    def _workload(self, name: str, *, env: list[Thing], port: int = 9090) -> None:
        labels = {"app": name}
        template = {"metadata": {"labels": labels}, "spec": self._spec(env, port)}
        wanted = {"replicas": 2, "selector": {"matchLabels": labels}}
        for kind, called in (("Deployment", name), ("ReplicaSet", f"{name}-5f")):
            above = [{"kind": "Deployment", "name": name}] if kind == "ReplicaSet" else []
            self.add(kind, called, metadata={"labels": labels, "ownerReferences": above},
                     spec={**wanted, "template": json.loads(json.dumps(template))},
                     status={"replicas": 2, "readyReplicas": 2})  # fmt: skip
        for number, node in enumerate(self.nodes):
            self._pod(f"{name}-5f-{number}", name, template["spec"],
                      {"kind": "ReplicaSet", "name": f"{name}-5f"}, node)  # fmt: skip
        self.add("Service", name, spec={
            "selector": labels, "type": "ClusterIP",
            "ports": [{"name": "http", "port": 80, "targetPort": port}]})  # fmt: skip

    def _stateful(self) -> None:
        name, labels = self.store, {"app": self.store}
        spec = self._spec([], 5432)
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"{name}-data"}}]
        template = {"metadata": {"labels": labels}, "spec": spec}
        self.add("StatefulSet", name, spec={
            "replicas": 1, "serviceName": name, "selector": {"matchLabels": labels},
            "template": template}, status={"replicas": 1, "readyReplicas": 1})  # fmt: skip
        self._pod(f"{name}-0", name, spec, {"kind": "StatefulSet", "name": name}, self.nodes[0])
        self.add("Service", name, spec={"selector": labels, "clusterIP": "None",
                                        "ports": [{"port": 5432, "targetPort": "web"}]})  # fmt: skip
        self.add("PersistentVolumeClaim", f"{name}-data",
                 spec={"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"},
                 status={"phase": "Bound"})  # fmt: skip

    def _batch(self) -> None:
        spec = self._spec([], 9191)
        proxy = {"name": "proxy", "image": "example.test/proxy:3",
                 "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}  # fmt: skip
        spec["containers"].append(proxy)
        self.add("Job", self.job, spec={"template": {"spec": spec}}, status={"active": 1})
        pod = self._pod(f"{self.job}-x", self.job, spec, {"kind": "Job", "name": self.job},
                        self.nodes[1])  # fmt: skip
        pod["status"]["containerStatuses"].append(
            {"name": "proxy", "state": {"running": {"startedAt": EARLY}}}
        )

    def _around(self) -> None:
        self.add("ConfigMap", f"{self.app}-settings", data={"mode": "plain"})
        written = [{"manager": "ops", "time": "2026-03-01T00:00:00Z",
                    "fieldsV1": {"f:data": {}}}]  # fmt: skip
        self.add("Secret", f"{self.app}-keys", metadata={"managedFields": written},
                 data={"login": "b3Bz"})  # fmt: skip
        self.add("Secret", f"{self.app}-cert", data={"tls.crt": "eA=="})
        self.add("Ingress", self.app, apiVersion="networking.k8s.io/v1", spec={
            "ingressClassName": "edge", "tls": [{"secretName": f"{self.app}-cert"}],
            "rules": [{"host": f"{self.app}.example.test", "http": {"paths": [
                {"path": "/", "pathType": "Prefix",
                 "backend": {"service": {"name": self.app, "port": {"number": 80}}}}]}}]})  # fmt: skip
        cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
        self.add("HorizontalPodAutoscaler", self.app, spec={
            "scaleTargetRef": {"kind": "Deployment", "name": self.app}, "minReplicas": 2,
            "maxReplicas": 5, "metrics": [{"type": "Resource", "resource": cpu}]})  # fmt: skip
        self.add("PodDisruptionBudget", self.app, spec={
            "minAvailable": 1, "selector": {"matchLabels": {"app": self.app}}})  # fmt: skip
        self.add("Role", self.app, rules=[{"verbs": ["get"], "resources": ["pods"]}])
        self.add("RoleBinding", self.app, roleRef={"kind": "Role", "name": self.app},
                 subjects=[{"kind": "ServiceAccount", "name": "default"}])  # fmt: skip
        hook = {"name": "check.example.test", "failurePolicy": "Fail",
                "clientConfig": {"service": {"name": self.caller, "namespace": self.ns}}}  # fmt: skip
        self.add("ValidatingWebhookConfiguration", self.app, wide=True, webhooks=[hook])
        self.add("Service", "alias", spec={
            "type": "ExternalName",
            "externalName": f"{self.app}.{self.ns}.svc.cluster.local"})  # fmt: skip


def listing(town: Town) -> str:
    """The cluster as one list."""
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": town.items})


def topology_of(town: Town, folder: Path) -> Topology:
    """The cluster as it is imported."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "all.json").write_text(listing(town), encoding="utf-8")
    return topology(read(folder / "all.json"), cluster="town")


def snapshot_of(*found: Topology, beside: Snapshot | None = None, now: int = NOW) -> Snapshot:
    """Topologies as they stand now, with ``beside`` everything of another snapshot too."""
    entities = [*beside.entities.values()] if beside else []
    edges = [*beside.edges] if beside else []
    facts: dict[str, dict[str, str]] = {}
    if beside:
        for one in beside.entities:
            facts[one] = {key: json.dumps(value) for key, value in beside.facts(one).items()}
    for each in found:
        entities += [Entity(one.id, one.kind, one.name, one.external_id, one.cluster, 0, now)
                     for one in each.entities]  # fmt: skip
        edges += [Edge(one.src, one.predicate, one.dst, 0, 2**62, 0, one.provenance,
                       one.confidence, one.source) for one in each.edges]  # fmt: skip
        for fact in each.facts:
            facts.setdefault(fact.entity, {})[fact.field] = json.dumps(fact.value, sort_keys=True)
    return Snapshot(entities, edges, lambda: facts, now)


def findings(town: Town, folder: Path, beside: Snapshot | None = None) -> list[Finding]:
    """What the checks say of the cluster."""
    return list(check_health(snapshot_of(topology_of(town, folder), beside=beside)))
