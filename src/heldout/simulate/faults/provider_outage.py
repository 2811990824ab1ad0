"""An outside provider fails; nothing of ours changed."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="provider_outage",
    domain="external",
    family="outside trouble",
    source=(
        "public: cloud-platform 2022-07-11 and mybinder 2022-01-27 (the far side degraded), own "
        "words"
    ),
    seat="ExternalDependency",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "status feed: partial outage, {0} % of api calls answered 503, provider is investigating",
        (
            "status feed: degraded performance, answer times up to {1} ms, no action needed by "
            "customers"
        ),
    ),
    gauge=Gauge("provider_errors", "percent", 0.2, 42),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Provider reports degraded service of {name}",
        prose="the provider degraded on its own",
    ),
    mechanism="The outside provider had a partial outage; no change on this side caused it",
    terms=(
        ("provider", "vendor", "third party", "external service", "external dependency",
         "outside"),
        ("outage", "degraded", "degradation", "503", "unavailable", "down", "failing"),
        ("outage", "api", "status feed", "status page", "dependency", "third party", "outside"),
    ),
    fix="Wait or fail over to another provider; nothing of ours needs to be reverted",
    cause="none",
    nears=(
        Near("calls<Service", "it calls as it always did; the answers fail on the far side"),
    ),
)  # fmt: skip
