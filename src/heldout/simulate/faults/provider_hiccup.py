"""An outside provider stumbled for a few minutes and answers again."""

from heldout.simulate.fault import Fault, Gauge, Trigger

FAULT = Fault(
    name="provider_hiccup",
    domain="external",
    family="passed trouble",
    source=(
        "public: cloud-platform 2022-07-11 (the far side degraded, here for minutes only), own "
        "words"
    ),
    seat="ExternalDependency",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "status feed: brief disruption, {0} calls answered 502, recovery in progress",
        "status feed: answers of up to {1} ms during a switch of systems",
    ),
    gauge=Gauge("provider_stumbles", "percent", 0.2, 31),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Provider reports a brief disruption of {name}",
        prose="the provider switched systems",
    ),
    mechanism=(
        "The outside provider had a brief disruption and answers again; calls have recovered and "
        "nothing is broken now"
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
            "back to normal",
            "cleared",
            "answers again",
            "brief",
            "subsided",
        ),
        (
            "provider",
            "third party",
            "vendor",
            "outside service",
            "partner",
            "disruption",
            "dependency",
        ),
    ),
    fix="Nothing to revert; the provider is back",
    cause="recovered",
)
