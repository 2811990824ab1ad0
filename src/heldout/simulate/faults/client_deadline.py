"""An HTTP client's deadline became shorter than the far side's slow answers."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="client_deadline",
    domain="configuration",
    family="time limit",
    source="public: cloud-platform 2022-07-11 (slow path behind one address), own words",
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{http client timeout ms}",
    said="{http client timeout ms}",
    values=((3000, 400), (5000, 600), (2000, 300), (8000, 900)),
    logs=(
        "gave up on outbound answer after {new} ms ({said}={new}), attempt {0} of 3",
        "outbound deadline hit: {said} is {new}, answer would have taken {1} ms",
    ),
    gauge=Gauge("outbound_deadline_hits", "per_min", 1, 260),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="answers got slower at the peak and no longer fit the deadline",
        load=1.6,
    ),
    mechanism=(
        "The outbound client timeout was cut from {old} to {new} ms, shorter than slow answers at"
        " the peak, so calls were abandoned and retried"
    ),
    terms=(
        ("timeout", "deadline"),
        ("client", "outbound"),
        ("cut", "short", "shorter", "lowered", "reduced", "decreased", "too low", "too tight",
         "gave up", "given up", "give up", "gives up", "abandoned", "abandons", "exceeded",
         "hit", "expires"),
    ),
    fix="Restore the client timeout to {old} ms",
    lends=True,
    harmless=(
        "its new value still exceeds every answer time of the day and the logs show no deadline hit"
    ),
    nears=(
        Near(
            "calls>Service",
            "its answers are as slow as at every peak, and nobody else gives up on it",
        ),
    ),
)  # fmt: skip
