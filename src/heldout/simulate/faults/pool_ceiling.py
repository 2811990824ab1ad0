"""A connection pool was made smaller than the next peak needs."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="pool_ceiling",
    domain="configuration",
    family="concurrency limit",
    source="public: treg PR #129 and hypothesis/h #8018 (pool left no headroom), own words",
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{db pool max}",
    said="{db pool max}",
    values=((40, 12), (60, 16), (48, 10), (32, 8)),
    logs=(
        "pool exhausted: {said}={new} all in use, {0} callers waiting, oldest {1} ms",
        "no free connection after {1} ms ({said} {new} reached, queue {0})",
    ),
    gauge=Gauge("pool_in_use_share", "ratio", 0.42, 1.0),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak needed more connections than the pool may open",
        load=1.9,
    ),
    mechanism=(
        "The connection pool was lowered from {old} to {new}; at the next peak every connection "
        "was in use and callers timed out while they waited for one"
    ),
    terms=(
        ("pool", "db_pool_max"),
        ("exhausted", "exhaustion", "in use", "too small", "lowered", "reduced", "decreased",
         "starved", "saturated", "no free", "waited", "waiting", "wait", "used up", "ran out"),
        ("connection", "db_pool_max", "database pool", "db pool"),
    ),
    fix="Restore the pool to {old} and size it against peak concurrency",
    nears=(
        Near("reads_writes>DbInstance", "it has free slots; the pool in front of it has none"),
        Near(
            "runs_on>Deployment scales<Hpa",
            "it adds replicas as it should; each has the same small pool",
        ),
    ),
)  # fmt: skip
