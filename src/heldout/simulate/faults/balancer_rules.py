"""More rules per target push a load balancer over the provider's hard limit."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

_BALANCER = "routes_to<K8sService routes_to<Ingress routes_to<LoadBalancer"

FAULT = Fault(
    name="balancer_rules",
    domain="capacity",
    family="quota",
    source=(
        "public: cloud-platform 2020-10-06 (an upgrade added two rules per load balancer and "
        "crossed a hard limit), own words"
    ),
    seat="Service",
    holder=tuple(_BALANCER.split()),
    field="rules_per_target",
    said="{rules per target}",
    values=((2, 4), (1, 3), (2, 5)),
    logs=(
        (
            "target not registered: {holder} is at its hard limit of rules since {said}={new}, "
            "{0} requests found nobody"
        ),
        "in and out of rotation, {0} requests lost; every target takes {new} rules ({said})",
    ),
    gauge=Gauge("registrations_refused", "per_min", 0, 34),
    trigger=Trigger(
        on=_BALANCER,
        type="runtime",
        summary="Targets of {name} were registered anew after nodes changed",
        prose="replaced nodes had to be registered, and their rules no longer fitted",
    ),
    mechanism=(
        "The rules that the load balancer takes per target rose from {old} to {new}; targets "
        "already registered stayed, and when nodes were replaced new registrations crossed the "
        "hard limit of rules and were refused"
    ),
    terms=(
        ("rule", "rules", "rules_per_target"),
        ("limit", "limits", "ceiling", "maximum", "too many", "quota"),
        ("target", "targets", "register", "registered", "registration", "registrations"),
    ),
    fix="Go back to {old} rules per target and register the targets again",
    effects=(Effect("holder", "Registration with {name} refused: no room for more rules"),),
    nears=(
        Near(
            "routes_to<K8sService routes_to<Ingress",
            "it holds few rules of its own and none of them changed",
        ),
    ),
)
