"""A ratio over a handful of requests; one cancelled call makes the alert."""

from heldout.simulate.fault import Fault, Gauge, Trigger

FAULT = Fault(
    name="thin_traffic",
    domain="observability",
    family="false alarm",
    source=(
        "public: binbashar/le-tf-infra-aws PR #1102 and pyrra-dev/pyrra #1925 (a share of too "
        "few requests alarms), own words"
    ),
    seat="Service",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "request {0} cancelled by its client after {1} ms, one of a handful in these minutes",
        "hardly any requests in these minutes, all but one answered",
    ),
    gauge=Gauge("requests_counted", "per_min", 140, 2),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Hardly any traffic on {name}",
        prose="traffic was so low that one cancelled call weighed heavily",
    ),
    mechanism=(
        "A false alarm: with only a handful of requests in the window one cancelled call made a "
        "large share, and nothing is broken"
    ),
    terms=(
        (
            "false alarm",
            "false positive",
            "not a real",
            "no real",
            "no user impact",
            "users are not affected",
            "spurious",
            "service is healthy",
            "misleading",
        ),
        (
            "few requests",
            "handful",
            "low traffic",
            "little traffic",
            "hardly any",
            "low volume",
            "small sample",
            "too few",
            "thin traffic",
            "one request",
            "single request",
        ),
    ),
    fix="Give the rule a least number of requests",
    cause="false_alarm",
)
