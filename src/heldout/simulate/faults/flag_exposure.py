"""A flag exposes a path that only breaks for the batch that comes later."""

from heldout.simulate.fault import Fault, Gauge, Trigger

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
    values=((5, 100), (0, 60), (10, 80)),
    logs=(
        (
            "variant path failed for request {0}: {holder} is on for this account "
            "(percent={new}), quota of the new path used up"
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
        ("flag", "feature flag", "rollout", "variant", "percent"),
        (
            "percent",
            "exposed",
            "opened",
            "raised",
            "new path",
            "variant",
            "rollout",
            "saturated",
            "increased",
        ),
    ),
    fix="Set the flag back to {old} percent",
)
