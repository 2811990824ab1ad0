"""A static database parameter was lowered and took effect at the next restart."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="static_parameter",
    domain="datastore",
    family="database setting",
    source=(
        "public: hypothesis/h #8018 and cloud PR #5040 (no connection headroom left), own words"
    ),
    seat="DbInstance",
    holder=("constrains<DbParameterGroup",),
    field="max_connections",
    said="max_connections",
    values=((400, 90), (600, 120), (300, 60)),
    logs=(
        "FATAL: remaining connection slots are reserved, max_connections={new} (client {0})",
        "{0} clients waiting, sessions at max_connections={new} since the last start",
    ),
    gauge=Gauge("slots_in_use_share", "ratio", 0.35, 1.0),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Maintenance restart of {name} completed",
        prose="a maintenance restart applied the pending static parameter",
    ),
    mechanism=(
        "max_connections was lowered from {old} to {new}; the parameter is static and was applied"
        " by the maintenance restart, after which clients found no free slot"
    ),
    terms=(
        ("max_connections", "connection slot", "parameter group", "database parameter"),
        ("restart", "restarted", "static", "reserved", "pending", "last start", "too low",
         "lowered", "reduced", "decreased", "no free slot", "exhausted"),
        ("connection", "session", "slot", "max_connections"),
    ),
    fix="Set max_connections back to {old} and restart",
    nears=(
        Near(
            "reads_writes<CronJob",
            "it opens as many sessions as every night; there are fewer slots",
        ),
    ),
)  # fmt: skip
