"""18: one workload asks a resolver that knows no name of the cluster."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "frontend"


def _edit(body: Body) -> None:
    spec = body["spec"]["template"]["spec"]
    spec["dnsPolicy"] = "None"
    spec["dnsConfig"] = {"nameservers": ["8.8.8.8"], "searches": []}


def _inject(cluster: Cluster) -> Cause:
    made = cluster.patch(0, "Deployment", NAME, _edit)
    cluster.roll(NAME)
    cluster.every(10, NAME, "ERROR", "14 UNAVAILABLE: getaddrinfo ENOTFOUND product-catalog", 20)
    cluster.moved(NAME, "http_error_ratio", lambda _, calm: 0.96, 20)
    cluster.every(20, "frontend-proxy", "WARN", "request failed: upstream answered 500", 25)
    cluster.moved("frontend-proxy", "http_error_ratio", lambda _, calm: 0.9, 20)
    return Cause(
        cluster.key("*", NAME),
        changes=(made,),
        affected=(NAME, "frontend-proxy"),
        field="spec.template.spec.dnsPolicy",
    )


FAULT = Fault(
    number=18,
    name="wrong_dns_policy",
    app="astronomy-shop",
    family="wrong resolver",
    channel="graph",
    rule="HighRequestErrorRate",
    inject=_inject,
    domain="network",
    mechanism="dnsPolicy None with nameserver 8.8.8.8 asks a resolver outside the cluster, which does not "
    "resolve its names",
    terms=(
        ("dnspolicy", "dns policy", "dns", "nameserver", "resolver"),
        ("8.8.8.8", "none", "external", "outside", "resolve", "resolution", "cluster"),
    ),
)
