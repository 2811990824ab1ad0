"""19: a Service wants a label that no pod has."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "user-service"


def _edit(body: Body) -> None:
    body["spec"]["selector"]["current_service_name"] = NAME


def _inject(cluster: Cluster) -> Cause:
    made = cluster.patch(0, "Service", NAME, _edit)
    cluster.fails(NAME, "TSocket: connection refused: {}", share=0.8, at=5)
    return Cause(
        cluster.key("Service", NAME),
        also=(cluster.key("*", NAME),),
        changes=(made,),
        affected=(NAME, "nginx-thrift"),
        field="spec.selector.current_service_name",
    )


FAULT = Fault(
    number=19,
    name="wrong_service_selector",
    app="social-network",
    family="no pods selected",
    channel="graph",
    rule="ServiceEndpointDown",
    inject=_inject,
    domain="network",
    mechanism="the selector of the service has an extra label that no pod carries, so it has no endpoints",
    terms=(
        ("selector", "label", "labels"),
        ("endpoint", "endpoints", "match", "matches", "pods", "pod"),
    ),
)
