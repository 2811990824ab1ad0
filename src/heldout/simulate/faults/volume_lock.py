"""A claim allows one writer, and a replica on a lost node still holds it."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="volume_lock",
    domain="node",
    family="placement",
    source=(
        "public: mybinder 2018-03-13 (a lost node still held the single-writer claim), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "mounts>Pvc"),
    field="access_modes",
    said="access_modes",
    values=((["ReadWriteMany"], ["ReadWriteOnce"]), (["ReadWriteMany"], ["ReadWriteOncePod"])),
    logs=(
        (
            "replica cannot start: volume of {holder} is held by a replica on a lost node, "
            "{said}={new} allows one, attach attempt {0}"
        ),
        "{0} requests queued, waiting to attach volume {holder} ({said} is {new}), node is lost",
    ),
    gauge=Gauge("attach_wait_s", "s", 2, 860),
    trigger=Trigger(
        on="workload",
        type="node",
        summary="A node under {name} stopped reporting",
        prose="a node was lost and its replica had to move",
    ),
    mechanism=(
        "The claim's access modes went from {old} to {new}; when a node was lost its replica "
        "still held the volume as the single writer, and the replicas that took over could not "
        "attach it"
    ),
    terms=(
        ("volume", "claim", "pvc", "persistent volume"),
        ("access_modes", "access mode", "readwriteonce", "readwriteoncepod", "rwo",
         "single writer", "one writer", "exclusive", "single-node"),
        ("held", "holds", "attach", "attached", "multi-attach", "detach", "detached"),
    ),
    fix="Detach the volume from the lost node and restore {old}",
    effects=(
        Effect(
            PODS,
            "FailedAttachVolume for {name}: {holder} is in use elsewhere",
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
        share=0.5,
        why="only replicas that moved off the lost node wait for the volume",
    ),
    nears=(
        Near(
            "runs_on>Deployment runs_on>NodeGroup",
            "losing one node is routine; the claim kept its replica from moving",
        ),
        Near("workload", "its template is as before; it waits for the volume"),
    ),
)  # fmt: skip
