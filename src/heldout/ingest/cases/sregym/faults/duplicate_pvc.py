"""16: two replicas that must not share a node share a volume that only one node can mount."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster, pending
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "jaeger"
REFUSAL = (
    "0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 node(s) had "
    "volume node affinity conflict."
)


def _edit(body: Body) -> None:
    spec = body["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "jaeger-pvc"}}]
    spec["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    spec["affinity"] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {
                        "matchExpressions": [{"key": "service", "operator": "In", "values": [NAME]}]
                    },
                    "topologyKey": "kubernetes.io/hostname",
                },
            ]
        }
    }
    body["spec"]["replicas"] = 2


def _inject(cluster: Cluster) -> Cause:
    claim = cluster.create(
        0,
        "PersistentVolumeClaim",
        "jaeger-pvc",
        spec={
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        status={"phase": "Bound"},
    )
    made = cluster.applied_again(10, NAME, _edit)
    _, second = cluster.roll(NAME)
    body = cluster.get("Pod", second)
    body["spec"].pop("nodeName")
    body["status"] = pending(REFUSAL)
    cluster.count(NAME, 1)
    for at in (16, 320, 620):
        cluster.event(at, "Pod", second, "FailedScheduling", REFUSAL, component="default-scheduler")
    return Cause(
        cluster.key("*", NAME),
        also=(cluster.key("PersistentVolumeClaim", "jaeger-pvc"),),
        changes=(made, claim),
        affected=(NAME,),
        field="spec.template.spec.volumes[0].persistentVolumeClaim.claimName",
    )


FAULT = Fault(
    number=16,
    name="duplicate_pvc",
    app="social-network",
    family="volume mounted twice",
    channel="graph",
    rule="PendingPodsDetected",
    inject=_inject,
    domain="storage",
    mechanism="two replicas share one ReadWriteOnce claim while anti-affinity forces them onto different nodes",
    terms=(
        ("readwriteonce", "rwo", "pvc", "claim", "volume"),
        ("replica", "replicas", "anti-affinity", "antiaffinity", "nodes", "share", "shares"),
    ),
)
