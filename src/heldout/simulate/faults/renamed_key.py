"""A secret's key was renamed; containers that start ask for the old name."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="renamed_key",
    domain="identity",
    family="credential",
    source=(
        "public: SREGym missing_env_variable (a process starts without a value it "
        "needs), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "mounts>Secret"),
    field="data_keys",
    said="{data keys}",
    values=(
        (["user", "password"], ["user", "pass"]),
        (["host", "password"], ["host", "credential"]),
        (["password", "url"], ["secret", "url"]),
    ),
    logs=(
        (
            "replica not created: the key password is not found in {holder} ({said}={new}), "
            "attempt {0}"
        ),
        "{0} requests queued, new replicas wait for a missing key: {said} of {holder} is {new}",
    ),
    gauge=Gauge("containers_not_created", "count", 0, 6),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Pods of {name} were replaced one by one",
        prose="pods were replaced and read their environment anew",
    ),
    mechanism=(
        "The keys of the secret were renamed ({old} to {new}) while the template still asks for "
        "password; running pods kept their environment, and once pods were replaced new "
        "containers could not be created for the missing key"
    ),
    terms=(
        ("key", "data_keys"),
        ("renamed", "rename", "missing", "not found", "no longer exists", "does not exist",
         "not exist", "no such", "mismatch", "lacks"),
        ("not created", "not be created", "cannot be created", "createcontainerconfigerror",
         "not start", "cannot start", "new replicas", "new pods", "environment", "replaced"),
    ),
    fix="Give the secret its key back ({old}), or ask for the new name",
    effects=(
        Effect(
            PODS,
            "CreateContainerConfigError in {name}: no key password in {holder}",
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
        why="pods that were not yet replaced keep the environment of their start",
    ),
    nears=(
        Near("runs_on>Deployment mounts>ConfigMap", "its keys are the ones that are asked for"),
        Near("reads_writes>DbInstance", "it accepts the same sign-in as before"),
    ),
)  # fmt: skip
