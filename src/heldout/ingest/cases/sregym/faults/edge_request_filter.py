"""2: a request filter at the door whose expression backtracks without end and eats the CPU."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "frontend-proxy"


def _edit(body: Body) -> None:
    template = body["spec"]["template"]
    container = template["spec"]["containers"][0]
    container["command"] = ["perl"]
    container["args"] = ["/opt/filter/serve.pl"]
    container["env"] += [
        {"name": "WAF_RULE_REGEX", "value": "^(([a-z])+.)+[A-Z]([a-z])+$"},
        {"name": "WAF_RULE_ENABLED", "value": "true"},
    ]
    container["resources"] = {"limits": {"cpu": "100m", "memory": "65Mi"}}
    template["metadata"]["annotations"] = {"change-ticket": "CHG-48120", "filter-profile": "strict"}


def _inject(cluster: Cluster) -> Cause:
    made = cluster.patch(0, "Deployment", NAME, _edit)
    cluster.roll(NAME)
    cluster.every(15, NAME, "WARN", "request took 4811 ms in the filter: path=/api/data", 40)
    cluster.every(40, NAME, "ERROR", "client closed the connection before an answer: 499", 60)
    cluster.moved(NAME, "container_cpu_cores", lambda _, calm: 0.1, 40)
    cluster.moved(
        NAME, "request_duration_p99_ms", lambda since, calm: min(9000, 800 + 20 * since), 40
    )
    cluster.moved(NAME, "http_error_ratio", lambda _, calm: 0.42, 60)
    return Cause(
        cluster.key("*", NAME),
        changes=(made,),
        affected=(NAME,),
        field="spec.template.spec.containers[0].env",
    )


FAULT = Fault(
    number=2,
    name="edge_request_filter",
    app="astronomy-shop",
    family="filter eats the CPU",
    channel="graph",
    rule="ContainerCPUThrottling",
    inject=_inject,
    domain="network",
    mechanism="the new filter rule backtracks catastrophically, saturates the CPU, and requests time out",
    terms=(
        ("regex", "regular expression", "waf", "filter", "rule", "expression"),
        (
            "backtracking",
            "backtracks",
            "cpu",
            "saturation",
            "saturated",
            "saturates",
            "throttled",
            "throttling",
        ),
    ),
    synthetic="CPU, latency and the filter's log lines; their size is made up, their course is not",
)
