"""An outside checker's own login ran out; the alert counts its refusals as failures."""

from heldout.simulate.fault import Fault, Gauge, Trigger

FAULT = Fault(
    name="probe_login",
    domain="observability",
    family="false alarm",
    source=(
        "public: defenseunicorns/uds-core PR #2398 (checkers need a login of their own, and see "
        "a refusal without one), own words"
    ),
    seat="Service",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "login of the uptime checker refused with 401, its token has run out (check {0})",
        "all other callers are answered, only checks end in 401 ({0} so far)",
    ),
    gauge=Gauge("checks_refused", "per_min", 0, 6),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Token of the uptime checker of {name} ran out",
        prose="the checker's token ran out",
    ),
    mechanism=(
        "A false alarm: the uptime checker's own token ran out and its 401 answers were counted "
        "as failures, while callers are served as ever"
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
        ("probe", "probes", "checker", "check", "checks", "monitor", "monitoring"),
        ("token", "login", "credential", "credentials", "401", "password"),
    ),
    fix="Renew the checker's token and leave its refusals out of the rule",
    cause="false_alarm",
)
