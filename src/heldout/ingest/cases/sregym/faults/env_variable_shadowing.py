"""4: a variable is set twice, and the second value shadows the first."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "frontend-proxy"


def _edit(body: Body) -> None:
    container = body["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [*container["env"], {"name": "FRONTEND_HOST", "value": "localhost"}]


def _inject(cluster: Cluster) -> Cause:
    made = cluster.patch(0, "Deployment", NAME, _edit)
    cluster.roll(NAME)
    cluster.every(
        10, NAME, "ERROR", "upstream connect error: connection refused, address 127.0.0.1:8080", 20
    )
    cluster.moved(NAME, "http_error_ratio", lambda _, calm: 0.97, 20)
    return Cause(
        cluster.key("*", NAME),
        changes=(made,),
        affected=(NAME,),
        field="spec.template.spec.containers[0].env",
    )


FAULT = Fault(
    number=4,
    name="env_variable_shadowing",
    app="astronomy-shop",
    family="variable set twice",
    channel="graph",
    rule="HighRequestErrorRate",
    inject=_inject,
    domain="config",
    mechanism="FRONTEND_HOST is set twice, and the later duplicate localhost shadows the first value",
    terms=(
        ("frontend_host",),
        (
            "duplicate",
            "duplicated",
            "twice",
            "second",
            "shadows",
            "shadowed",
            "shadowing",
            "overrides",
            "overridden",
            "localhost",
        ),
    ),
)
