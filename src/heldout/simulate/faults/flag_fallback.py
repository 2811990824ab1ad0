"""Containers that start while flags cannot be fetched run on a fallback that was changed."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="flag_fallback",
    domain="delivery",
    family="feature flag",
    source=(
        "public: inngest/website PR #1790 (containers that start while flags are away run on "
        "defaults), own words"
    ),
    seat="Service",
    holder=("constrains<FeatureFlag",),
    field="environments.production.fallback",
    said="fallback",
    values=(("direct", "legacy"), ("batched", "single"), ("indexed", "scan")),
    logs=(
        (
            "request {0} on the slow path after {1} ms: flag {holder} could not be fetched at "
            "start, fallback={new} holds"
        ),
        "flag {holder} runs on its fallback since start ({said} is {new}), {0} requests waiting",
    ),
    gauge=Gauge("fallback_share", "ratio", 0.0, 0.55),
    trigger=Trigger(
        on="constrains<FeatureFlag",
        type="runtime",
        summary="Flag service answered late for {name} while containers started",
        prose="the flag service was degraded just as containers were started",
    ),
    mechanism=(
        "The flag's fallback went from {old} to {new}, which nobody is served while flags can be "
        "fetched; containers that started while the flag service was degraded kept it and sent "
        "their traffic down the slow path"
    ),
    terms=(
        ("flag",),
        ("fallback", "fall back", "default", "fell back"),
        ("start", "started", "starting", "not fetched", "could not be fetched", "unavailable",
         "degraded"),
    ),
    fix="Set the fallback to {old} again and restart the containers that started on it",
    effects=(
        Effect(PODS, "Started container in {name} on a stored value of its flags", type="pod"),
    ),
    scope=Scope(
        PODS,
        "started_at",
        inside="@trigger",
        outside="@before",
        why="containers that started before fetched the flag and keep its value",
    ),
    nears=(
        Near("workload", "its release is innocent; only containers of that minute are slow"),
        Near("runs_on>Deployment mounts>ConfigMap", "no setting of the path changed there"),
    ),
)  # fmt: skip
