"""A burst of traffic overran a service for minutes and has passed."""

from heldout.simulate.fault import Fault, Gauge, Trigger

FAULT = Fault(
    name="passed_burst",
    domain="capacity",
    family="passed trouble",
    source="public: LikeLionTeam4/slash-infra #80 (a peak, here one that passed), own words",
    seat="Service",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "burst of requests, {0} queued and some shed while replicas catch up",
        "queue drains, oldest request {1} ms; all settings as they were",
    ),
    gauge=Gauge("burst_queue", "count", 2, 620),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Short burst of requests to {name}",
        prose="a burst of requests arrived",
    ),
    mechanism=(
        "A short burst of requests overran the service; it passed, the queue drained and "
        "everything has recovered"
    ),
    terms=(
        (
            "recovered",
            "healed",
            "resolved",
            "transient",
            "already over",
            "is over",
            "has passed",
            "burst passed",
            "it passed",
            "back to normal",
            "cleared",
            "subsided",
            "queue drained",
        ),
        ("burst", "spike", "surge", "peak", "traffic", "load"),
    ),
    fix="Nothing to revert; the burst has passed",
    cause="recovered",
)
