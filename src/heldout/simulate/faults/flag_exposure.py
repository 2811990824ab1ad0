"""A flag exposes a path that only breaks for the batch that comes later."""

from heldout.simulate.fault import Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="flag_exposure",
    domain="delivery",
    family="feature flag",
    source=(
        "public: inngest/website PR #1790 (flag values decide who is on the slow path), own words"
    ),
    seat="Service",
    holder=("constrains<FeatureFlag",),
    field="environments.production.percent",
    said="percent",
    values=((5, 60), (0, 50), (10, 70)),
    logs=(
        (
            "new path failed for request {0}: flag {holder} is on in this container "
            "(percent={new}), capacity of the new path used up"
        ),
        "new path saturated, {0} waiting; flag {holder} at percent {new}",
    ),
    gauge=Gauge("variant_share", "ratio", 0.05, 0.92),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Weekly import started sending to {name}",
        prose="the weekly import sent its traffic through the new path",
        load=1.5,
    ),
    mechanism=(
        "The feature flag was opened from {old} to {new} percent; the new path held until the "
        "weekly import went through it and used up its capacity"
    ),
    terms=(
        ("flag", "feature flag", "toggle"),
        ("percent", "percentage", "exposed", "exposure", "opened", "ramped", "raised",
         "increased", "rolled out to", "widened", "all accounts"),
        ("new path", "variant", "used up", "saturated", "capacity", "new code path",
         "overloaded"),
    ),
    fix="Set the flag back to {old} percent",
    scope=Scope(
        PODS,
        "serves_path",
        inside="new",
        outside="former",
        share=0.6,
        why="only containers that drew the opened percentage serve the new path",
    ),
    nears=(
        Near(
            "workload",
            "its release waits behind the flag; nobody saw it until the flag was opened",
        ),
        Near(
            "runs_on>Deployment mounts>ConfigMap",
            "its settings are as before; the flag alone sends traffic down the new path",
        ),
    ),
)  # fmt: skip
