"""8: traffic to a service stays on the caller's node, where none of its pods runs."""

from __future__ import annotations

from collections.abc import Callable

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "recommendation"


def _pinned(node: str) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        body["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}

    return edit


def _inject(cluster: Cluster) -> Cause:
    for at, name, node in ((0, NAME, "worker-1"), (25, "frontend", "worker-2")):
        cluster.patch(at, "Deployment", name, _pinned(node))
        for pod in cluster.roll(name):
            cluster.get("Pod", pod)["spec"]["nodeName"] = node

    def local(body: Body) -> None:
        body["spec"]["internalTrafficPolicy"] = "Local"

    made = cluster.patch(50, "Service", NAME, local)
    cluster.fails(NAME, "14 UNAVAILABLE: connection timed out: {}", share=0.6, at=55, waits=True)
    return Cause(
        cluster.key("Service", NAME),
        changes=(made,),
        affected=(NAME, "frontend"),
        field="spec.internalTrafficPolicy",
    )


FAULT = Fault(
    number=8,
    name="internal_traffic_policy",
    app="astronomy-shop",
    family="traffic stays on a node",
    channel="graph",
    rule="ServiceEndpointDown",
    inject=_inject,
    domain="network",
    mechanism="internalTrafficPolicy Local routes to pods of the same node only, and the caller is elsewhere",
    terms=(
        ("internaltrafficpolicy", "internal traffic policy", "traffic policy", "local"),
        ("node", "nodes", "same-node", "endpoint", "endpoints"),
    ),
)
