"""A batch job may overlap with itself; a long run makes copies pile up on the store."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="overlapping_runs",
    domain="batch",
    family="batch",
    source="public: treg PR #129 (a lock queue that stalls everyone), own words",
    seat="DbInstance",
    holder=("reads_writes<CronJob",),
    field="concurrency_policy",
    said="{concurrency policy}",
    values=(("Forbid", "Allow"), ("Replace", "Allow")),
    logs=(
        "lock wait {1} ms for session {0}: table held by 3 runs of {holder} ({said}={new})",
        "{0} sessions behind a lock of {holder}, runs overlap ({said} {new})",
    ),
    gauge=Gauge("lock_waiters", "count", 1, 130),
    trigger=Trigger(
        on="reads_writes<CronJob",
        type="runtime",
        summary="A run of {name} took longer than its interval",
        prose="month-end made a run longer than its interval, so the next ones joined it",
    ),
    mechanism=(
        "The job's concurrency policy went from {old} to {new}; when a run took longer than its "
        "interval, runs overlapped and their locks blocked everyone else on the store"
    ),
    terms=(
        ("concurrency", "overlap", "overlaps", "overlapped", "overlapping", "concurrent",
         "parallel", "concurrency_policy"),
        ("job", "cron", "cronjob", "run", "batch job"),
        ("lock", "locks", "blocked", "blocks", "queue", "waits", "wait"),
    ),
    fix="Set the policy back to {old} and end the surplus runs",
    effects=(
        Effect("holder", "Third run of {name} started while two are active"),
    ),
    nears=(
        Near(
            "constrains<DbParameterGroup",
            "its limits are as before; sessions wait for a lock, not for a slot",
        ),
    ),
)  # fmt: skip
