"""A role lost a right that processes need only while they start."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="role_narrowed",
    domain="identity",
    family="permission",
    source=(
        "public: openshift/certman-operator PR #510 and lightspeed-operator PR #1976 (reads needed"
        " at start were taken away), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "uses_identity>ServiceAccount", "grants<Role"),
    field="rules.configmaps.verbs",
    said="configmaps.verbs",
    values=(
        (["get", "list", "watch"], ["get"]),
        (["get", "list", "watch"], ["list"]),
        (["get", "list"], ["get"]),
    ),
    logs=(
        (
            "start-up ended: configmaps forbidden for this account, {holder} allows only {new} "
            "({said}={new}), try {0}"
        ),
        "running with {0} requests queued, peers cannot start; {said} of {holder} is only {new}",
    ),
    gauge=Gauge("forbidden_reads", "per_min", 0, 44),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Pods of {name} were restarted",
        prose="a restart made the pods read their settings from the cluster anew",
    ),
    mechanism=(
        "The role's verbs on configmaps were narrowed from {old} to {new}; processes that ran "
        "already had read what they need, and once pods were restarted that read was forbidden "
        "and they could not start"
    ),
    terms=(
        ("rbac", "configmap", "verb", "service account", "rolebinding"),
        ("forbidden", "denied", "not allowed", "permission", "allows only", "only", "rights"),
        ("narrowed", "removed", "reduced", "tightened", "revoked", "only", "lost", "dropped",
         "missing", "no longer"),
        ("start", "startup", "restart", "restarted", "crash loop", "crashloopbackoff"),
    ),
    fix="Give the role its verbs {old} on configmaps again",
    effects=(
        Effect(
            PODS,
            "Back-off restarting container of {name}: it exits at start",
            type="pod",
            field="ready",
            value=False,
        ),
    ),
    scope=Scope(
        PODS,
        "started_at",
        inside="@trigger",
        outside="@before",
        share=0.5,
        why="only pods that started after the change had to read with the narrowed role",
    ),
    nears=(
        Near("uses_identity>IamRole", "its cloud rights are unchanged; the cluster refuses here"),
        Near("runs_on>Deployment mounts>ConfigMap", "it is intact; it may just not be read"),
    ),
)  # fmt: skip
