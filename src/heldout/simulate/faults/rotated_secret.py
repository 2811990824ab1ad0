"""A password was rotated while processes still hold the old one from their start."""

from heldout.simulate.fault import Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="rotated_secret",
    domain="identity",
    family="credential",
    source=(
        "public: LikeLionTeam4/slash-infra #80 and SREGym #822 (environment fixed at pod start), "
        "own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "mounts>Secret"),
    field="rotation.version",
    said="{rotation version}",
    values=((6, 7), (11, 12), (3, 4)),
    logs=(
        (
            "password authentication failed for new session {0}: process holds credential of "
            "{said} {old}, store expects {new}"
        ),
        (
            "new session refused, old ones still work ({0} left); credential read at start, "
            "{said} now {new}"
        ),
    ),
    gauge=Gauge("sessions_refused", "per_min", 0, 90),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Idle sessions of {name} were recycled",
        prose="recycled sessions had to sign in again",
    ),
    mechanism=(
        "The password was rotated (version {old} to {new}) while pods keep the credential they "
        "read at start; pooled sessions hid it until they were recycled and new sign-ins were "
        "refused"
    ),
    terms=(
        ("password", "credential", "secret"),
        ("rotated", "rotation", "rotates", "new version", "rotation_version"),
        ("start", "started", "holds", "hold", "stale", "old", "still", "environment", "restart",
         "restarted", "cached"),
    ),
    fix="Restart the pods so that they read version {new}",
    scope=Scope(
        PODS,
        "started_at",
        inside="@before",
        outside="@since",
        share=0.6,
        why="pods that started since the rotation read the new password",
    ),
    nears=(
        Near(
            "reads_writes>DbInstance",
            "it accepts the new password; sessions from before are intact",
        ),
        Near("workload", "its release is unchanged; its processes hold what they read at start"),
    ),
)  # fmt: skip
