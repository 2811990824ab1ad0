"""A batch job may run on many workers at once; a large input lets it crowd everyone out."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="batch_width",
    domain="batch",
    family="batch",
    source=(
        "public: darklang/dark PR #3575 and openego/eGon-data #799 (parallel parts of a job take "
        "more sessions than the store has), own words"
    ),
    seat="DbInstance",
    holder=("reads_writes<CronJob",),
    field="parallelism",
    said="parallelism",
    values=((2, 40), (1, 32), (3, 48)),
    logs=(
        (
            "{0} clients find no free session: {holder} holds most of them with parallelism={new}"
            " workers of one run"
        ),
        "interactive queries wait {1} ms behind {0} batch queries, parallelism {new}",
    ),
    gauge=Gauge("batch_sessions", "count", 2, 160),
    trigger=Trigger(
        on="reads_writes<CronJob",
        type="runtime",
        summary="Run of {name} started with a large input",
        prose="the first run with an input large enough for all workers started",
    ),
    mechanism=(
        "The job's parallelism was raised from {old} to {new}; the first run with a large input "
        "put all its workers to work, and together they took the store's sessions from everyone"
    ),
    terms=(
        ("parallelism", "parallel workers", "worker", "workers", "degree of parallelism"),
        ("job", "jobs", "cron", "cronjob", "one run", "batch job", "batch run"),
        ("session", "sessions", "connection", "connections", "crowded out"),
    ),
    fix="Set parallelism back to {old} and end the surplus workers",
    effects=(Effect("holder", "Run of {name} uses all of its workers", type="pod"),),
    nears=(Near("constrains<DbParameterGroup", "the number of sessions is what it always was"),),
)
