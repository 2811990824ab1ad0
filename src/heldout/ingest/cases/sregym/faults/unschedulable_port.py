"""14: a workload is sent to a node that is not there, and calls a port where nobody listens."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster, pending
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "checkout"
REFUSAL = "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector."


def _node(body: Body) -> None:
    body["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "extra-node"}


def _port(body: Body) -> None:
    for one in body["spec"]["template"]["spec"]["containers"][0]["env"]:
        if one["name"] == "PRODUCT_CATALOG_ADDR":
            one["value"] = "product-catalog:8082"


def _inject(cluster: Cluster) -> Cause:
    first = cluster.applied_again(0, NAME, _node)
    second = cluster.patch(30, "Deployment", NAME, _port)
    (pod,) = cluster.roll(NAME, ready=False)
    body = cluster.get("Pod", pod)
    body["spec"].pop("nodeName")
    body["status"] = pending(REFUSAL)
    for at in (31, 330, 630):
        cluster.event(at, "Pod", pod, "FailedScheduling", REFUSAL, component="default-scheduler")
    cluster.fails(NAME, "14 UNAVAILABLE: no endpoints of {}", share=0.3)
    return Cause(
        cluster.key("*", NAME),
        changes=(first, second),
        affected=(NAME, "frontend"),
        field="spec.template.spec.nodeSelector.kubernetes.io/hostname",
    )


FAULT = Fault(
    number=14,
    name="unschedulable_port",
    app="astronomy-shop",
    family="two faults at once",
    channel="graph",
    rule="PodSchedulingFailure",
    inject=_inject,
    mechanism="checkout selects a node that does not exist, and its PRODUCT_CATALOG_ADDR has the wrong port 8082",
    terms=(
        ("node", "nodeselector", "unschedulable", "scheduling", "scheduled", "schedule"),
        ("port", "8082", "product_catalog_addr"),
    ),
    telling={"extra-node": "worker-7"},
)
