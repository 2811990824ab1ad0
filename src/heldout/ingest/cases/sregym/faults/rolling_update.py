"""20: an update takes all pods away at once, and the new ones never begin."""

from __future__ import annotations

from heldout.ingest.cases.sregym.apps import Service
from heldout.ingest.cases.sregym.cluster import Body, Cluster, waiting
from heldout.ingest.cases.sregym.fault import Cause, Fault

NAME = "custom-service"


def _edit(body: Body) -> None:
    body["spec"]["strategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 0},
    }
    body["spec"]["template"]["spec"]["initContainers"] = [
        {
            "name": "hang-init",
            "image": "registry.internal/busybox:1.36",
            "command": ["sleep", "infinity"],
        }
    ]


def _inject(cluster: Cluster) -> Cause:
    # Healthy for days before, so that its being new tells nothing.
    cluster.deploy(
        Service(NAME, NAME, 8080, "registry.internal/custom", "host", ()), env=[], replicas=3
    )
    made = cluster.patch(0, "Deployment", NAME, _edit)
    for pod in cluster.roll(NAME, ready=False):
        status = waiting(NAME, "PodInitializing", phase="Pending")
        status["initContainerStatuses"] = [
            {"name": "hang-init", "ready": False, "restartCount": 0, "state": {"running": {}}}
        ]
        cluster.get("Pod", pod)["status"] = status
        cluster.event(8, "Pod", pod, "Started", "Started container hang-init", type="Normal")
    cluster.moved(NAME, "http_requests_per_second", lambda _, calm: 0.0, 10)
    return Cause(
        cluster.key("*", NAME),
        changes=(made,),
        affected=(NAME,),
        field="spec.strategy.rollingUpdate.maxUnavailable",
    )


FAULT = Fault(
    number=20,
    name="rolling_update",
    app="social-network",
    family="rollout drains everything",
    channel="change",
    rule="DeploymentNotReady",
    inject=_inject,
    mechanism="maxUnavailable 100% removes all pods before new ones are ready, and their init container hangs",
    terms=(
        (
            "maxunavailable",
            "max unavailable",
            "rolling update",
            "rollingupdate",
            "strategy",
            "100%",
        ),
        ("init", "init container", "initcontainer", "hang", "hangs", "sleep", "hang-init"),
    ),
    telling={"custom-service": "greeter", "hang-init": "prepare"},
)
