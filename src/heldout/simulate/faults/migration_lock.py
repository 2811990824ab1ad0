"""A schema change may wait for its lock for ever, and everybody waits behind it."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="migration_lock",
    domain="datastore",
    family="database setting",
    source=(
        "public: treg PR #129, hypothesis/h #8018 and cloud PR #5040 (a schema change queued for "
        "an exclusive lock stalls all requests), own words"
    ),
    seat="DbInstance",
    holder=("constrains<DbParameterGroup",),
    field="lock_timeout_ms",
    said="lock_timeout_ms",
    values=((3000, 0), (5000, 0), (2000, 0)),
    logs=(
        (
            "{0} sessions queued behind a schema change that waits for an exclusive lock, "
            "lock_timeout_ms={new}"
        ),
        "oldest waiter {1} ms: ALTER TABLE neither runs nor gives up (lock_timeout_ms {new})",
    ),
    gauge=Gauge("sessions_behind_lock", "count", 0, 240),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Schema change of a release began on {name}",
        prose="a release began its schema change while a long report held the table",
    ),
    mechanism=(
        "lock_timeout_ms went from {old} to {new}, which means no limit; the next schema change "
        "waited for its exclusive lock without giving up and every query queued behind it"
    ),
    terms=(
        ("exclusive lock", "lock", "locks", "lock queue"),
        ("schema change", "migration", "ddl", "alter", "alter table"),
        (
            "timeout",
            "no limit",
            "for ever",
            "forever",
            "without limit",
            "unlimited",
            "unbounded",
            "never gives up",
            "without giving up",
            "indefinitely",
        ),
    ),
    fix="Set lock_timeout_ms back to {old}, end the waiting statement and run it again later",
    effects=(Effect("seat", "Lock queue of {name} grows behind one waiting statement"),),
    nears=(Near("reads_writes<CronJob", "its runs wait in the queue like everybody else"),),
)
