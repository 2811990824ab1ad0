"""A new rule set at the front refuses requests that carry a certain header."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

_FRONT = "routes_to<K8sService routes_to<Ingress"

FAULT = Fault(
    name="header_block",
    domain="network",
    family="network filter",
    source=(
        "public: cloud-platform 2026-03-30 (a new rule set of the firewall blocked a cookie and "
        "a header), own words"
    ),
    seat="Service",
    holder=tuple(_FRONT.split()),
    field="annotations.waf_ruleset",
    said="{waf ruleset}",
    values=(("core-11", "core-12"), ("crs-3.3", "crs-4.0"), ("base-2025", "base-2026")),
    logs=(
        (
            "request {0} was refused with 403 in front of us: {said}={new} of {holder} matched "
            "its session header"
        ),
        "callers with the session header get 403, others pass ({0} so far); {said} is {new}",
    ),
    gauge=Gauge("refused_in_front", "per_min", 1, 380),
    trigger=Trigger(
        on=_FRONT,
        type="runtime",
        summary="{name} went from counting matches to blocking them",
        prose="the new rules went from counting to blocking",
    ),
    mechanism=(
        "The front's rule set went from {old} to {new}; one of the new rules takes the session "
        "header for an attack, and since it blocks every request with that header is refused"
    ),
    terms=(
        ("rule set", "ruleset", "waf_ruleset", "waf", "firewall rule", "firewall rules"),
        ("header", "headers"),
        ("block", "blocks", "blocked", "refused", "refuses", "rejected", "403", "denied"),
    ),
    fix="Go back to rule set {old}, or exempt the header",
    lends=True,
    harmless="the new rule set only counts matches there, and not one request is refused by it",
    effects=(Effect("holder", "{name}: one rule of {new} accounts for all refusals"),),
    nears=(Near(f"{_FRONT} routes_to<LoadBalancer", "it passes on what arrives, refusing none"),),
)
