"""What has become of a Job's pods, and whether a CronJob starts any."""

from __future__ import annotations

from heldout.graph.reading import record, texts
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.rule import Facts, Rule, counted, said, whole


def running_beside(facts: Facts) -> list[str]:
    """Containers of a pod that still run although its first one has ended well, by name."""
    states, order = record(facts.get("container_states")), texts(facts.get("containers"))
    main = record(states.get(order[0])) if order else {}
    if main.get("state") != "terminated" or whole(main.get("exit_code")) != 0:
        return []
    return sorted(
        name
        for name, state in states.items()
        if name in order[1:] and record(state).get("state") == "running"
    )


def _tells(facts: Facts) -> str | None:
    state, why = said(facts.get("status")), said(facts.get("ended_because"))
    if state:
        return f"{state}: {why}" if why and state == "Failed" else state
    counts = [
        f"{number} {word}"
        for word in ("active", "failed", "succeeded")
        if (number := whole(facts.get(word)))
    ]
    if facts.get("suspend") is True:
        return ", ".join(["Suspended", *counts])
    if not counts:
        return None
    wanted = whole(facts.get("completions"))
    return ", ".join([*counts, *([f"{wanted} wanted"] if wanted and wanted > 1 else [])])


def _sees(snapshot: Snapshot, job: Entity) -> str | None:
    told = _tells(snapshot.facts(job.id))
    if told is None or said(snapshot.fact(job.id, "status")):
        return told
    for pod in snapshot.into(job.id, "controlled_by"):
        facts = snapshot.facts(pod.id)
        others = running_beside(facts) if pod.kind == "Pod" else []
        if others and facts.get("phase") == "Running":
            return f"{told}: work ended, container {others[0]} still runs"
    return told


JOB = Rule(
    "jobs",
    ("Job",),
    "Job controller: conditions Complete and Failed with their reason (BackoffLimitExceeded, "
    "DeadlineExceeded), counts of active, failed and succeeded pods, spec.suspend; a pod ends when "
    "its last container does",
    tells=_tells,
    sees=_sees,
)


def _scheduled(facts: Facts) -> str | None:
    running = whole(facts.get("active"))
    active = [f"{counted(running, 'job')} active"] if running else []
    if facts.get("suspend") is True:
        return ", ".join(["Suspended", *active])
    if facts.get("suspend") is False and said(facts.get("schedule")):
        return ", ".join([f"Scheduled at {facts['schedule']}", *active])
    return None


CRON_JOB = Rule(
    "cron-jobs",
    ("CronJob",),
    "CronJob controller: spec.suspend starts no further Job and leaves those that run, "
    "status.active are the Jobs that run",
    tells=_scheduled,
)
