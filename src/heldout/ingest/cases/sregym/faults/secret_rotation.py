"""13: a database password is rotated, and one workload keeps the string that it began with."""

from __future__ import annotations

from collections.abc import Callable

from heldout.ingest.cases.sregym.cluster import Body, Cluster, iso_at
from heldout.ingest.cases.sregym.fault import Cause, Fault

_DAY = 86_400.0
SECRET = "product-catalog-db-conn"
NAME = "product-catalog"


def _from_secret(body: Body) -> None:
    container = body["spec"]["template"]["spec"]["containers"][0]
    container["env"].append(
        {
            "name": "DB_CONNECTION_STRING",
            "valueFrom": {"secretKeyRef": {"name": SECRET, "key": "conn"}},
        }
    )
    body["spec"]["template"]["metadata"]["annotations"] = {"credential-source": SECRET}


def _literal(value: str) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        container = body["spec"]["template"]["spec"]["containers"][0]
        kept = [one for one in container["env"] if one["name"] != "DB_LOGIN_VERSION"]
        container["env"] = [*kept, {"name": "DB_LOGIN_VERSION", "value": value}]

    return edit


def _inject(cluster: Cluster) -> Cause:
    cluster.create(-10 * _DAY, "Secret", SECRET, type="Opaque", data={"conn": "djE="})
    cluster.create(
        -10 * _DAY, "ConfigMap", "postgresql-init", data={"init.sql": "-- login version 1"}
    )
    for name in ("accounting", "product-reviews"):
        cluster.patch(-10 * _DAY, "Deployment", name, _literal("1"))
        cluster.roll(name)
    cluster.patch(-10 * _DAY, "Deployment", NAME, _from_secret)
    cluster.roll(NAME)

    def rotate(body: Body) -> None:
        body["data"]["conn"] = "djI="
        body["metadata"]["managedFields"] = [{"time": iso_at(0), "fieldsV1": {"f:data": {}}}]

    def init(body: Body) -> None:
        body["data"]["init.sql"] = "-- login version 2"

    made = cluster.patch(0, "Secret", SECRET, rotate)
    cluster.patch(5, "ConfigMap", "postgresql-init", init)
    for number, name in enumerate(("accounting", "product-reviews")):
        cluster.patch(10 + number, "Deployment", name, _literal("2"))
        cluster.roll(name)
    cluster.every(
        8, NAME, "ERROR", "failed to connect to postgresql:5432: login was refused (28P01)", 30
    )
    cluster.every(8, "postgresql", "ERROR", "FATAL: login of product-catalog was refused", 30)
    cluster.fails(NAME, "14 UNAVAILABLE: {} answered with an error", share=0.9, at=35)
    cluster.moved(NAME, "http_error_ratio", lambda _, calm: 0.98, 30)
    return Cause(
        cluster.key("*", NAME),
        also=(cluster.key("Secret", SECRET),),
        changes=(made,),
        affected=(NAME, "frontend"),
        field="data.conn",
    )


FAULT = Fault(
    number=13,
    name="secret_rotation",
    app="astronomy-shop",
    family="stale credentials",
    channel="change",
    rule="HighRequestErrorRate",
    inject=_inject,
    domain="secrets",
    mechanism="the secret was rotated, and the pod of product-catalog was not restarted: it still uses "
    "the stale connection string captured at its start",
    terms=(
        ("secret", "credential", "credentials", "password", "rotated", "rotation", "login"),
        (
            "stale",
            "old",
            "restart",
            "restarted",
            "captured",
            "still uses",
            "environment",
            "previous",
        ),
    ),
    synthetic="the database's refusals in two logs",
)
