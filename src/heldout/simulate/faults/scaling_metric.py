"""The autoscaler follows a metric that nobody writes, so it never scales."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="scaling_metric",
    domain="capacity",
    family="autoscaling",
    source=(
        "public: SREGym hpa_missing_effective_cpu_request (an autoscaler without a "
        "usable figure), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "scales<Hpa"),
    field="target_metric",
    said="{target metric}",
    values=(
        ("requests_in_flight", "requests_inflight_total"),
        ("queue_length", "queue_length_avg"),
        ("sessions_open", "open_sessions"),
    ),
    logs=(
        (
            "{0} requests queued, replicas not added: autoscaler {holder} reads no metric "
            "({said}={new})"
        ),
        "autoscaler idle while {0} requests wait; {said} of {holder} is {new}, no series",
    ),
    gauge=Gauge("wanted_minus_running", "count", 0, 8),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak needed more replicas",
        load=2.0,
    ),
    mechanism=(
        "The autoscaler's metric was renamed from {old} to {new}, which no series answers; it kept"
        " the replicas it had, and the next peak found too few"
    ),
    terms=(
        ("metric", "target_metric"),
        ("autoscaler", "hpa", "scaling", "scale", "scaler"),
        ("no series", "no metric", "reads no", "not read", "cannot read", "unknown", "renamed",
         "missing", "does not exist", "not exist", "nobody writes", "no data", "unavailable",
         "not found", "wrong"),
    ),
    fix="Point the autoscaler back at {old}",
    effects=(
        Effect(
            "runs_on>Deployment scales<Hpa",
            "FailedGetPodsMetric in {name}: no series named {new}",
            type="scale",
        ),
    ),
    nears=(
        Near("workload", "it declares what it did before; nobody asks it for more replicas"),
        Near("part_of>Namespace constrains<ResourceQuota", "it has room; nothing was refused"),
    ),
)  # fmt: skip
