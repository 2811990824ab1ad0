"""The cluster refuses old tokens; a client that read its own once at start keeps sending it."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="token_age",
    domain="identity",
    family="credential",
    source=(
        "public: kubeflow #6484, cloudability/metrics-agent #193 and kube-schedule-scaler PR #8 "
        "(expiring tokens met clients that never read again), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "runs_on>NodeGroup", "runs_on>Cluster"),
    field="api_server.max_token_age_hours",
    said="max_token_age_hours",
    values=((8760, 24), (4320, 48), (8760, 72)),
    logs=(
        (
            "401 from the cluster api for call {0}: token read once at start has expired, {holder}"
            " takes none older ({said}={new})"
        ),
        "token of this process is past its age ({said} is {new}), {0} watches refused since start",
    ),
    gauge=Gauge("api_unauthorized", "per_min", 0, 75),
    trigger=Trigger(
        on="holder",
        type="runtime",
        summary="Grace for stale tokens ended on {name}",
        prose="the grace that the cluster had given to stale tokens ended",
    ),
    mechanism=(
        "The longest age of a token was cut from {old} to {new} hours; the file is renewed, but "
        "this client reads it once at start, so when the grace for stale tokens ended, pods that "
        "had not been restarted since got 401 for an expired token"
    ),
    terms=(
        ("token",),
        ("expired", "expires", "expire", "expiry", "age", "lifetime", "stale", "too old"),
        ("401", "unauthorized", "refused", "rejected", "unauthenticated"),
        ("start", "restart", "restarted", "reread", "re-read", "read once", "reload", "cached"),
    ),
    fix="Restart the pods, then make the client read its token again, or restore {old} hours",
    effects=(
        Effect("holder", "Stale tokens were used against {name}, now refused"),
    ),
    scope=Scope(
        PODS,
        "started_at",
        inside="@before",
        outside="@recent",
        share=0.6,
        why="pods restarted within the last hours hold a fresh token and are well",
    ),
    nears=(
        Near("runs_on>Deployment uses_identity>ServiceAccount", "its rights are unchanged"),
        Near("uses_identity>IamRole", "cloud calls pass; only the cluster's own api refuses"),
    ),
)  # fmt: skip
