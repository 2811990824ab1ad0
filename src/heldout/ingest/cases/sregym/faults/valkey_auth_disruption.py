"""12: a password is set inside the running cache. No object changes, and nothing records it."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault


def _inject(cluster: Cluster) -> Cause:
    (old,) = cluster.pods["cart"]
    cluster.delete(15, "Pod", old)
    cluster.roll("cart")
    cluster.every(
        20, "cart", "ERROR", "could not reach the store: the connection was not usable", 30
    )
    for name in ("frontend", "checkout"):
        cluster.every(30, name, "ERROR", "cart answered 500", 35)
        cluster.moved(name, "http_error_ratio", lambda _, calm: calm + 0.3, 30)
    cluster.moved("cart", "http_error_ratio", lambda _, calm: 0.95, 30)
    return Cause(cluster.key("*", "valkey-cart"), affected=("cart", "frontend", "checkout"))


FAULT = Fault(
    number=12,
    name="valkey_auth_disruption",
    app="astronomy-shop",
    family="authentication fails",
    channel="none",
    rule="HighRequestErrorRate",
    inject=_inject,
    domain="datastore",
    mechanism="a password was set in the running valkey-cart, so the authentication of cart fails",
    terms=(("password", "requirepass", "auth", "authentication", "noauth", "credential"),),
    synthetic="the generic errors of cart and its callers",
    miss="a password set by hand in a running process leaves nothing that is recorded",
)
