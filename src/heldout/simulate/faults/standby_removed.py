"""A store was left without its standby; maintenance then takes it down instead of over."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="standby_removed",
    domain="datastore",
    family="database setting",
    source=(
        "public: govuk-infrastructure PR #3413 (a store without a second zone cannot bear "
        "outages longer than seconds), own words"
    ),
    seat="DbInstance",
    holder=(),
    field="multi_zone",
    said="{multi zone}",
    values=((True, False),),
    logs=(
        (
            "shutting down for host maintenance with no standby to fail over to ({said}={new}), "
            "{0} sessions ended"
        ),
        "recovery reads the log from disk, {1} ms so far; no peer took over, {said} is {new}",
    ),
    gauge=Gauge("sessions_ended", "per_min", 1, 290),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Host maintenance of {name} began in its window",
        prose="the provider's regular host maintenance began",
    ),
    mechanism=(
        "The store's second zone was switched off ({old} to {new}), so it had no standby; regular "
        "host maintenance then shut it down with nothing to fail over to"
    ),
    terms=(
        ("standby", "multi_zone", "multi zone", "multi az", "second zone", "failover target"),
        (
            "no standby",
            "switched off",
            "turned off",
            "disabled",
            "removed",
            "without a standby",
            "off",
            "false",
            "nothing to fail over",
            "single zone",
        ),
        ("maintenance", "host", "patching", "shut down", "shutting down"),
    ),
    fix="Switch the second zone on again and move maintenance until the standby is in sync",
    effects=(Effect("seat", "{name} is unavailable during maintenance: no standby"),),
    nears=(Near("constrains<DbParameterGroup", "no parameter was pending at the maintenance"),),
)
