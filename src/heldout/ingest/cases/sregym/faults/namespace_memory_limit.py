"""11: a quota on memory, where no workload declares any, refuses every new pod."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

QUOTA = "memory-limit-quota"


def _inject(cluster: Cluster) -> Cause:
    made = cluster.create(0, "ResourceQuota", QUOTA, spec={"hard": {"memory": "1Gi"}})
    (old,) = [
        key[2]
        for key in cluster.objects
        if key[0] == "ReplicaSet" and key[2].rpartition("-")[0] == "search"
    ]
    cluster.delete(20, "ReplicaSet", old)
    (pod,) = cluster.roll("search", ready=False)
    cluster.objects.pop(cluster.key("Pod", pod))
    new = pod.rpartition("-")[0]
    cluster.get("ReplicaSet", new)["status"] = {"replicas": 0, "readyReplicas": 0}
    for at in (22, 40, 80, 160, 320, 640):
        cluster.event(
            at,
            "ReplicaSet",
            new,
            "FailedCreate",
            f'Error creating: pods "{pod}" is forbidden: failed quota: {QUOTA}: must '
            "specify memory for: search",
            component="replicaset-controller",
        )
    cluster.fails("search", "rpc error: no healthy upstream: {}", at=25)
    return Cause(
        cluster.key("ResourceQuota", QUOTA),
        changes=(made,),
        affected=("search", "frontend"),
        field="spec.hard.memory",
    )


FAULT = Fault(
    number=11,
    name="namespace_memory_limit",
    app="hotel-reservation",
    family="quota refuses pods",
    channel="graph",
    rule="DeploymentNotReady",
    inject=_inject,
    mechanism="the resource quota wants memory to be declared, the workloads declare none, so new pods are refused",
    terms=(("quota", "resourcequota"), ("memory",)),
    telling={"memory-limit-quota": "team-budget"},
)
