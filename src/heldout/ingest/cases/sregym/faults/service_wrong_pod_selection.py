"""10: a Service selects the pods of two workloads, one of which does not listen on its port."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault


def _label(body: Body) -> None:
    body["spec"]["template"]["metadata"]["labels"]["service-route"] = "frontend"


def _select(body: Body) -> None:
    body["spec"]["selector"] = {"service-route": "frontend"}


def _inject(cluster: Cluster) -> Cause:
    for at, name in ((0, "frontend"), (15, "search")):
        cluster.patch(at, "Deployment", name, _label)
        cluster.roll(name)
    made = cluster.patch(40, "Service", "frontend", _select)
    cluster.moved("frontend", "http_error_ratio", lambda _, calm: 0.5, 45)
    return Cause(
        cluster.key("Service", "frontend"),
        also=(cluster.key("*", "frontend"),),
        changes=(made,),
        affected=("frontend",),
        field="spec.selector",
    )


FAULT = Fault(
    number=10,
    name="service_wrong_pod_selection",
    app="hotel-reservation",
    family="wrong pods selected",
    channel="graph",
    rule="HighRequestErrorRate",
    inject=_inject,
    domain="network",
    mechanism="the selector of service frontend also picks search pods, which do not listen on its port 5000",
    terms=(("selector", "selects", "selected", "label", "labels"), ("search",)),
)
