"""15: a readiness probe asks a port where nothing listens."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "user-service"


def _edit(body: Body) -> None:
    body["spec"]["template"]["spec"]["containers"][0]["readinessProbe"] = {
        "httpGet": {"path": "/healthz", "port": 8080},
        "initialDelaySeconds": 10,
        "periodSeconds": 10,
        "failureThreshold": 1,
    }


def _inject(cluster: Cluster) -> Cause:
    made = cluster.applied_again(0, NAME, _edit)
    (pod,) = cluster.roll(NAME, ready=False)
    for at in range(20, 700, 60):
        cluster.event(
            at,
            "Pod",
            pod,
            "Unhealthy",
            'Readiness probe failed: Get "http://10.0.2.17:8080/healthz": dial tcp '
            "10.0.2.17:8080: connect: connection refused",
        )
    cluster.fails(NAME, "TSocket: connection refused: {}", share=0.8, at=15)
    return Cause(
        cluster.key("*", NAME),
        changes=(made,),
        affected=(NAME, "nginx-thrift"),
        field="spec.template.spec.containers[0].readinessProbe.httpGet.port",
    )


FAULT = Fault(
    number=15,
    name="readiness_probe",
    app="social-network",
    family="probe asks the wrong place",
    channel="graph",
    rule="KubePodNotReady",
    inject=_inject,
    mechanism="the readiness probe asks /healthz on port 8080, where user-service does not listen, so it "
    "is never ready and has no endpoints",
    terms=(
        ("readiness", "probe", "readinessprobe"),
        ("8080", "/healthz", "healthz", "port", "endpoint", "path"),
    ),
)
