"""The autoscaler's ceiling is lower than the next peak needs."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="replica_ceiling",
    domain="capacity",
    family="autoscaling",
    source="public: open-bank-oss PR #273 (replicas held down against the autoscaler), own words",
    seat="Service",
    holder=("runs_on>Deployment", "scales<Hpa"),
    field="max_replicas",
    said="{max replicas}",
    values=((14, 4), (20, 5), (12, 3)),
    logs=(
        "shedding load: {0} requests queued, replicas at their ceiling ({said}={new})",
        "scaling limited: wanted 11 replicas, {said} is {new}, queue {0}",
    ),
    gauge=Gauge("queue_depth", "count", 3, 900),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak needed more replicas than the ceiling allows",
        load=2.1,
    ),
    mechanism=(
        "The autoscaler's ceiling was lowered from {old} to {new} replicas; at the next peak it "
        "could not scale out and the replicas shed load"
    ),
    terms=(
        ("autoscaler", "hpa", "scaling", "scale out", "scale up", "max_replicas"),
        ("ceiling", "max_replicas", "maximum", "max replicas", "upper bound", "upper limit",
         "capped"),
        ("replica", "max_replicas"),
    ),
    fix="Restore the ceiling of {old} replicas",
    effects=(
        Effect(
            "runs_on>Deployment scales<Hpa",
            "ScalingLimited: {name} wants more replicas than it may set",
            type="scale",
        ),
    ),
    nears=(
        Near(
            "part_of>Namespace constrains<ResourceQuota",
            "the namespace has room; nothing was refused",
        ),
        Near("workload", "it declares what it did before"),
    ),
)  # fmt: skip
