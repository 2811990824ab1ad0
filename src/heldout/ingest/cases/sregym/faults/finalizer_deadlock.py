"""6: a controller loses the right to take a finalizer away, so an object stays half deleted."""

from __future__ import annotations

from heldout.ingest.cases.sregym.apps import Service
from heldout.ingest.cases.sregym.cluster import Body, Cluster, iso_at
from heldout.ingest.cases.sregym.fault import Cause, Fault

_DAY = 86_400.0
NAME = "configmap-cleanup-controller"
TOKEN = "reservation-cleanup-token"


def _narrow(body: Body) -> None:
    body["rules"][0]["verbs"] = ["get", "list", "watch"]


def _inject(cluster: Cluster) -> Cause:
    cluster.create(-9 * _DAY, "ServiceAccount", NAME)
    cluster.create(
        -9 * _DAY,
        "ClusterRole",
        NAME,
        "",
        rules=[
            {
                "apiGroups": [""],
                "resources": ["configmaps"],
                "verbs": ["get", "list", "watch", "patch"],
            },
        ],
    )
    cluster.create(
        -9 * _DAY,
        "ClusterRoleBinding",
        NAME,
        "",
        subjects=[
            {"kind": "ServiceAccount", "name": NAME, "namespace": cluster.namespace},
        ],
        roleRef={"kind": "ClusterRole", "name": NAME, "apiGroup": "rbac.authorization.k8s.io"},
    )
    cluster.create(
        -9 * _DAY, "ConfigMap", f"{NAME}-script", data={"run.sh": "while true; do sweep; done"}
    )
    cluster.create(
        -9 * _DAY,
        "ConfigMap",
        TOKEN,
        metadata={
            "finalizers": ["cleanup.hotel.io/release"],
        },
        data={"lease": "reservation"},
    )
    cluster.deploy(
        Service(NAME, NAME, 8080, "registry.internal/cleanup", "host", ()),
        env=[],
        serviceAccountName=NAME,
    )
    narrowed = cluster.patch(0, "ClusterRole", NAME, _narrow, "")

    def mark(body: Body) -> None:
        body["metadata"]["deletionTimestamp"] = iso_at(20)

    cluster.patch(20, "ConfigMap", TOKEN, mark, verb="deleted")
    cluster.every(
        2,
        NAME,
        "ERROR",
        f'configmaps "{TOKEN}" is forbidden: User '
        f'"system:serviceaccount:{cluster.namespace}:{NAME}" cannot patch resource '
        '"configmaps" in API group "" (403)',
        22,
    )
    return Cause(
        cluster.key("ClusterRole", NAME, ""),
        also=(cluster.key("ConfigMap", TOKEN),),
        changes=(narrowed,),
        field="rules[0].verbs[3]",
    )


FAULT = Fault(
    number=6,
    name="finalizer_deadlock",
    app="hotel-reservation",
    family="finalizer is stuck",
    channel="change",
    rule="PodStatusError",
    inject=_inject,
    domain="identity",
    mechanism="the role lost the patch verb, so the controller cannot remove the finalizer and deletion hangs",
    terms=(
        ("patch", "rbac", "permission", "permissions", "forbidden", "403", "clusterrole", "verb"),
        ("finalizer", "finalizers", "terminating", "stuck", "deletion"),
    ),
    telling={
        "configmap-cleanup-controller": "lease-sweeper",
        "reservation-cleanup-token": "lease-17",
        "cleanup.hotel.io/release": "hotel.io/lease",
    },
)
