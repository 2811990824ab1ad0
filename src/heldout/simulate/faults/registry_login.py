"""Nodes keep the registry login of their start after it was replaced; it shows at the next pull."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="registry_login",
    domain="identity",
    family="credential",
    source=(
        "public: cloud-platform 2023-01-11 (registry password replaced, nodes kept the old one), "
        "own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "runs_on>NodeGroup", "uses_identity>Secret"),
    field="registry.login_id",
    said="login_id",
    values=(("pull2210", "pull2604"), ("reader07", "reader11"), ("mirror4a", "mirror9c")),
    logs=(
        (
            "replica cannot start: registry refused the image pull with 401, its node presents the"
            " old login {old}, {holder} holds {new} ({said}={new}), attempt {0}"
        ),
        (
            "{0} requests queued, replicas wait for an image pull: registry login cached by the "
            "node is {old}, {said}={new}"
        ),
    ),
    gauge=Gauge("image_pulls_refused", "per_min", 0, 34),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Replicas of {name} were moved to other nodes",
        prose="replicas were moved to nodes that had no copy of the image",
    ),
    mechanism=(
        "The registry login was replaced ({old} to {new}) while the nodes went on with the one "
        "they had cached at their own start; images already on a node hid it, and once replicas "
        "moved every image pull with the old login was refused"
    ),
    terms=(
        ("registry",),
        ("login", "credential", "password", "401", "unauthorized"),
        ("pull", "pulling", "imagepullbackoff", "errimagepull"),
        ("old", "cached", "stale", "outdated", "former", "replaced", "no longer valid"),
    ),
    fix="Give the nodes login {new}, or restore {old} until they are replaced",
    effects=(
        Effect(
            PODS,
            "Back-off pulling image for {name}: registry answered 401",
            type="pod",
            field="phase",
            value="Pending",
        ),
    ),
    scope=Scope(
        PODS,
        "started_at",
        inside="@trigger",
        outside="@before",
        why="only pods that had to pull an image since are hit; running ones need no login",
    ),
    nears=(
        Near("workload", "its image and template are as they were; it cannot be pulled"),
        Near(
            "runs_on>Deployment runs_on>NodeGroup",
            "the nodes do what they always did, with a login that no longer counts",
        ),
    ),
)
