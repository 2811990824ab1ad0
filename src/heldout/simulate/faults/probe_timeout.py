"""A liveness probe gives a busy container no time to answer, so it is killed under load."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="probe_timeout",
    domain="kubernetes",
    family="time limit",
    source=(
        "public: SREGym liveness_probe_too_aggressive (a probe too strict for the load), "
        "own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment",),
    field="liveness_probe.timeout_seconds",
    said="liveness_probe.timeout_seconds",
    values=((5, 1), (6, 1), (10, 1)),
    logs=(
        (
            "container restarted by its liveness probe: busy, answered later than allowed "
            "({said}={new}), {0} requests lost"
        ),
        "probe answered after {1} ms, {said} is {new}; restart is near",
    ),
    gauge=Gauge("probe_restarts", "per_h", 0, 42),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak made the probe's answer slower than allowed",
        load=1.7,
    ),
    mechanism=(
        "The liveness probe's timeout was cut from {old} to {new} s; at the peak busy containers "
        "answered it too late and were restarted, which left the others with more"
    ),
    terms=(
        ("probe", "liveness"),
        ("timeout", "timeout_seconds", "time limit", "too late", "later than", "deadline"),
        ("restarted", "restart", "restarts", "restarting", "killed", "kills"),
    ),
    fix="Set the probe's timeout back to {old} s",
    effects=(Effect(PODS, "Unhealthy: liveness probe of {name} ran out of time", type="pod"),),
    nears=(
        Near("runs_on>Deployment mounts>ConfigMap", "its own timeouts are as before"),
        Near("runs_on>Deployment scales<Hpa", "it adds replicas as it should; they are killed too"),
    ),
)  # fmt: skip
