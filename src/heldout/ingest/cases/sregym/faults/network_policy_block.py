"""3: a policy that selects one service and allows nothing in or out."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

POLICY = "deny-all-recommendation"


def _inject(cluster: Cluster) -> Cause:
    made = cluster.create(
        0,
        "NetworkPolicy",
        POLICY,
        spec={
            "podSelector": {"matchLabels": {"io.kompose.service": "recommendation"}},
            "policyTypes": ["Ingress", "Egress"],
        },
    )
    cluster.fails("recommendation", "rpc error: dial tcp {}: i/o timeout", waits=True)
    cluster.every(
        30, "recommendation", "ERROR", "server selection timeout: mongodb-recommendation:27017"
    )
    return Cause(
        cluster.key("NetworkPolicy", POLICY),
        also=(cluster.key("*", "recommendation"),),
        changes=(made,),
        field="spec.policyTypes",
        affected=("recommendation", "frontend"),
    )


FAULT = Fault(
    number=3,
    name="network_policy_block",
    app="hotel-reservation",
    family="traffic is denied",
    channel="graph",
    rule="HighRequestErrorRate",
    inject=_inject,
    domain="network",
    mechanism="a network policy selects the service's pods and allows no ingress and no egress",
    terms=(
        ("networkpolicy", "network policy", "policy"),
        (
            "deny",
            "denies",
            "denied",
            "block",
            "blocks",
            "blocked",
            "isolates",
            "isolated",
            "isolation",
            "no ingress",
            "allows no",
            "drops",
        ),
    ),
    telling={"deny-all-recommendation": "baseline-14"},
)
