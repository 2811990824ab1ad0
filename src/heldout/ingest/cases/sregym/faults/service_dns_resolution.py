"""9: the cluster's resolver answers that one name does not exist."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "user-service"


def _edit(body: Body) -> None:
    block = (
        f"    template ANY ANY {NAME}.social-network.svc.cluster.local {{\n"
        "        rcode NXDOMAIN\n    }\n    kubernetes"
    )
    body["data"]["Corefile"] = body["data"]["Corefile"].replace("    kubernetes", block, 1)


def _inject(cluster: Cluster) -> Cause:
    made = cluster.patch(0, "ConfigMap", "coredns", _edit, "kube-system")
    cluster.fails(
        NAME,
        "could not resolve host: user-service.social-network.svc.cluster.local (NXDOMAIN)",
        share=0.8,
        at=25,
    )
    # The reference names the service that nobody finds, not the settings that hide it.
    return Cause(
        cluster.key("ConfigMap", "coredns", "kube-system"),
        also=(cluster.key("*", NAME),),
        changes=(made,),
        affected=(NAME,),
        field="data.Corefile",
    )


FAULT = Fault(
    number=9,
    name="service_dns_resolution",
    app="social-network",
    family="name does not resolve",
    channel="graph",
    rule="HighRequestErrorRate",
    inject=_inject,
    domain="network",
    mechanism="a template in the CoreDNS settings answers NXDOMAIN for user-service, so its name does not resolve",
    terms=(("nxdomain", "dns", "coredns", "resolve", "resolves", "resolution"), ("user-service",)),
)
