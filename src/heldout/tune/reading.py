"""Measuring train and reading what failed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from heldout.propose import Failure, digest
from heldout.run.plan import Arm, Outcome
from heldout.run.reduce import final, solved_by_incident
from heldout.signatures import diagnose, diagnosis_from_plain
from heldout.split import Case
from heldout.tune.context import Context, Failing, State
from heldout.tune.log import Entry

ARM = "current"


async def measure(job: Context, state: State, cases: Sequence[Case], step: int) -> None:
    """Play cases with the present brain and note what is solved and what fails.

    Each measurement has a seed of its own, so that a lucky repeat is not met again.
    """
    options = job.options
    result = await job.player.play(
        "train",
        cases,
        [Arm(ARM, state.brain)],
        repeats=options.repeats,
        seed=options.derived_seed("train", step),
    )
    state.solved.update(solved_by_incident(result.outcomes, result.plan, ARM))
    for case in cases:
        incident = case.incident.id
        state.failing.pop(incident, None)
        failed = _first_failure(result.outcomes, incident)
        if state.solved[incident] is False and failed is not None:
            state.failing[incident] = Failing(result.run, failed)
            state.reasonings[failed.verdict.reasoning] = None
    solved = sum(state.solved[case.incident.id] is True for case in cases)
    job.tell("measured", f"{solved} of {len(cases)} train incidents solved", {"step": step})


def _first_failure(outcomes: Sequence[Outcome], incident: str) -> Outcome | None:
    failed = [
        one
        for key, one in sorted(final(outcomes).items())
        if key[0] == incident and one.verdict.result == "fail" and one.trace is not None
    ]
    return failed[0] if failed else None


async def read_failures(job: Context, state: State) -> list[Failure]:
    """The diagnosis of every failing incident; one that cannot be read is noted and left out."""
    keys = {
        incident: f"diagnosis/{one.run}/{incident}/{one.outcome.repeat}"
        for incident, one in sorted(state.failing.items())
    }
    missing = [incident for incident, key in keys.items() if job.log.known(key) is None]
    made = dict(
        zip(
            missing,
            await asyncio.gather(*(_diagnose(job, state, incident) for incident in missing)),
            strict=True,
        )
    )
    failures: list[Failure] = []
    for incident, key in keys.items():
        entry = Entry(key, "diagnosed", round=state.round)
        detail = job.log.record(entry, made.get(incident, {}))
        if detail.get("diagnosis"):
            failures.append(Failure(incident, diagnosis_from_plain(detail["diagnosis"])))
    if missing:
        job.tell("diagnosed", f"{len(failures)} of {len(keys)} failures read")
    return failures


async def _diagnose(job: Context, state: State, incident: str) -> dict[str, Any]:
    outcome = state.failing[incident].outcome
    assert outcome.trace is not None
    text = digest(outcome.trace, job.case(incident).incident.alert, outcome.verdict.reasoning)
    answer = await diagnose(job.client, text, seed=job.options.derived_seed("diagnose", incident))
    job.player.budget.add(answer.spent.usd, answer.spent.tokens)
    return {
        "incident": incident,
        "diagnosis": answer.value.plain() if answer.value else None,
        "failure": answer.failure,
        "spent": asdict(answer.spent),
    }
