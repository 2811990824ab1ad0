"""The stages of the main job, run by the command line and by the Prefect flows alike.

Only ``score`` opens the held-out half, in a process of its own; building runs in one too, since the
gate's inventory needs both halves and the process that tunes may open neither test nor truth.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from heldout.environments import REPAIR
from heldout.errors import HeldoutError, UsageError
from heldout.pipeline.job import Job, JobResult, Tuned, nothing_to_tune_on, settings_of
from heldout.pipeline.progress import Say, cpu_seconds, shown, tell
from heldout.settings import Settings

if TYPE_CHECKING:
    from heldout.score import ScoreRequest, ScoreResult
    from heldout.store import Ledger
    from heldout.tune import Elsewhere

REQUEST = "request"
"""Kind of the ledger's row that keeps what a job was asked for."""


def build_worlds(settings: Settings, workers: int = 2) -> None:
    """Make and verify the worlds of every set, in a process of its own."""
    if REPAIR in (settings.set, settings.tune.beside):
        build_repairs(settings)
    _build(settings, "--all", "--workers", str(workers))


def build_repairs(settings: Settings) -> None:
    """Make the set of the repair environment where it is not there, in a process of its own."""
    if not settings.set_path(REPAIR).is_dir():
        _build(settings, "--set", REPAIR)


def _build(settings: Settings, *words: str) -> None:
    command = [sys.executable, "-m", "heldout.cli.main", "build", "--quiet", *words]
    command += ["--project", str(settings.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("error: ").rstrip(".")
        raise HeldoutError(said or f"'heldout build' ended with code {done.returncode}")


def build_set(job: Job, progress: Say | None = None) -> None:
    """Stage one: worlds and truths of every set, made from their specs and verified."""
    (progress or shown())("building worlds")
    build_worlds(settings_of(job), job.workers)


def find_news(job: Job) -> Tuned | None:
    """Before anything is spent: whether the month allows a job, and one could find anything.

    ``None`` when there may be something new. A month that is used up is a :class:`CapReached`, a
    cap in USD on a model without a price a :class:`ConfigError`.
    """
    from heldout.environments import open_environment
    from heldout.run import open_month
    from heldout.run.caps import require_priced
    from heldout.split import declare_process
    from heldout.store import Ledger
    from heldout.tune import TuneOptions, remember_standstill, standstill

    declare_process("tune")
    settings = settings_of(job)
    require_priced(settings, _models(settings), settings.tune.max_usd, settings.month.max_usd)
    if not settings.ledger.is_file():
        return None
    with Ledger.open(settings.ledger) as ledger:
        if job.target == "overlay":
            _require_own_overlay(ledger, settings.models.agent)
        found = (
            None
            if job.again
            else standstill(
                settings,
                ledger,
                model=settings.models.agent,
                proposer=settings.models.proposer,
                interface=open_environment(settings.agent.tools),
                options=TuneOptions.of(settings, target=job.target),
            )
        )
        if found is not None:
            remember_standstill(ledger, found, settings.models.agent, settings.set)
        elif (month := open_month(settings, ledger)) is not None:
            month.require()
    if found is None:
        return None
    return Tuned(
        job=found.job,
        status="nothing_new",
        proposal=found.proposal,
        sentence=found.sentence(),
    )


def _require_own_overlay(ledger: Ledger, model: str) -> None:
    """A job may not write where another model reads its own."""
    from heldout.overlays import folder, sharer
    from heldout.store.queries import jobs

    other = sharer(model, sorted({row.model for row in jobs(ledger, kind="tune") if row.model}))
    if other:
        raise UsageError(
            f"'{model}' and '{other}', which was tuned before, share one overlay",
            where=folder(model),
            mend="Name one of them otherwise, or tune the shared brain with --target base",
        )


def _models(settings: Settings) -> list[str]:
    """The models that a job asks; a program that plays the agent says itself what it spent."""
    judges = settings.judge.models if settings.judge.by == "llm" else ()
    agent = "" if settings.agent.command else settings.models.agent
    named = (agent, settings.models.proposer, settings.gate.reviewer, *judges)
    return [name for name in named if name]


def tune_brain(job: Job, progress: Say | None = None, resume: str = "") -> Tuned:
    """Stage two: tune on the train half; ``review="auto"`` accepts the proposal by policy."""
    return asyncio.run(_tune(settings_of(job), job, progress or shown(), resume))


async def _tune(settings: Settings, job: Job, say: Say, resume: str) -> Tuned:
    from heldout.build import cases
    from heldout.environments import open_environment
    from heldout.gate import GateProcess
    from heldout.review import AUTO, Reviewer, accept
    from heldout.review.announcing import announce
    from heldout.split import declare_process
    from heldout.store import Ledger
    from heldout.store.queries import proposal as find_proposal
    from heldout.tune import TuneOptions, new_job_id, tune

    declare_process("tune")
    train = cases(settings, settings.set, "train", workers=job.workers)
    if not train:
        raise nothing_to_tune_on(settings)
    options = TuneOptions.of(settings, target=job.target, job=resume or new_job_id())
    with Ledger.open(settings.ledger) as ledger, GateProcess(settings) as gate:
        if not resume:
            remember_request(ledger, options.job, job)
        done = await tune(
            settings,
            ledger,
            model=settings.models.agent,
            proposer=settings.models.proposer,
            cases=train,
            gate=gate,
            interface=open_environment(settings.agent.tools),
            options=options,
            on_event=lambda event: tell(say, event),
            elsewhere=_elsewhere(settings),
        )
        confirmed = bool(done.evidence.get("confirmed"))
        accepted = bool(done.proposal) and job.review == "auto" and confirmed
        # A resumed job may find that it was accepted before the process died.
        if accepted and find_proposal(ledger, done.proposal).decision is None:
            why = "accepted by policy 'auto', not by a person"
            accept(settings, ledger, done.proposal, Reviewer(AUTO, why))
        elif done.proposal and not accepted:
            await announce(settings, ledger, done.proposal, say.note)
    refused = ", ".join(f"{count} by {kind}" for kind, count in sorted(done.rejected.items()))
    return Tuned(
        job=done.job,
        status=done.status,
        proposal=done.proposal,
        before=done.before.hash,
        after=done.after.hash,
        accepted=accepted,
        confirmed=confirmed,
        sentence=(
            f"{done.status}: train {done.train[0]} of {done.train[1]} solved after {done.rounds} "
            f"round(s); {len(done.accepted)} edit(s) kept; refused: {refused or 'none'}"
        ),
    )


def _elsewhere(settings: Settings) -> Elsewhere | None:
    """The other environment that a job may not harm; none where it has no train incident."""
    from heldout.build import cases
    from heldout.environments import open_environment
    from heldout.settings import load_settings
    from heldout.tune import Elsewhere

    plain = load_settings(settings.root)
    own = plain.set if settings.set == REPAIR and (plain.datasets / plain.set).is_dir() else ""
    beside = settings.tune.beside or own
    if beside in ("", "none", settings.set):
        return None
    tools = REPAIR if beside == REPAIR else plain.agent.tools
    agent = settings.agent.model_copy(update={"tools": tools})
    there = replace(settings, agent=agent, set=beside)
    found = cases(there, beside, "train")
    return Elsewhere(there, open_environment(tools), found) if found else None


def remember_request(ledger: Ledger, name: str, job: Job) -> None:
    """Keep what the job was asked for, so that it can be resumed as it was."""
    ledger.append(
        "jobs",
        [
            {
                "job": name,
                "kind": REQUEST,
                "status": "asked",
                "model": job.model,
                "detail_json": job.model_dump(mode="json", exclude={"project"}),
            }
        ],
    )
    ledger.flush()


def score_brain(job: Job, tuned: Tuned, progress: Say | None = None) -> tuple[str, ...]:
    """Stage three: score the accepted brain, then once more for each further model."""
    from heldout.score import ScoreRequest
    from heldout.store import Ledger
    from heldout.store.queries import scores

    settings = settings_of(job)
    with Ledger.open(settings.ledger) as ledger:
        begun = {row.model: row for row in scores(ledger, job=tuned.job)}
    done: list[str] = []
    for model in (settings.models.agent, *job.transfer):
        before = begun.get(model)
        if before is not None and before.ended is not None:
            done.append(before.score)
            continue
        request = ScoreRequest(
            model=model,
            before=tuned.before,
            after=tuned.after,
            set=settings.set,
            job=tuned.job,
            base_url=settings.models.base_url if model == settings.models.agent else "",
            max_usd=job.max_usd,
            floors=not done,
            resume=before.score if before is not None else "",
        )
        done.append(start_score(settings, request, progress or shown()).score)
    return tuple(done)


def start_score(settings: Settings, request: ScoreRequest, say: Say) -> ScoreResult:
    """Run one score's process and pass its progress on."""
    from heldout.pipeline.progress import progress_words
    from heldout.score import start

    def show(state: object) -> None:
        stage = getattr(state, "stage", "")
        say(f"score {request.model} · {stage} · {progress_words(state)}")

    return start(settings, request, on_progress=show)


def report_job(job: Job, tuned: Tuned) -> tuple[str, str]:
    """Stage four: the report of the job as text, and the path of its HTML file."""
    return write_report_of(settings_of(job), tuned.job)


def write_report_of(settings: Settings, of: str) -> tuple[str, str]:
    """The report of a job or score as text, and the path of its HTML file."""
    from heldout.report import gather, render_text, save
    from heldout.store import Ledger

    with Ledger.open(settings.ledger) as ledger:
        data = gather(ledger, settings, of)
    return render_text(data), str(save(data, settings.reports))


def _waits(tuned: Tuned) -> str:
    """What became of the proposal, or who has the next word on it."""
    if tuned.accepted:
        return "Accepted by policy 'auto', not by a person."
    if tuned.proposal:
        return f"Proposal {tuned.proposal} waits: heldout review {tuned.proposal}"
    return ""


def run_stages(
    job: Job,
    *,
    progress: Say | None = None,
    resume: str = "",
    news: Callable[..., Tuned | None] = find_news,
    build: Callable[..., None] = build_set,
    tune: Callable[..., Tuned] = tune_brain,
    score: Callable[..., tuple[str, ...]] = score_brain,
    report: Callable[..., tuple[str, str]] = report_job,
) -> JobResult:
    """The whole job. Its stages may be wrapped, by Prefect tasks for instance.

    ``news`` may end it before it begins.
    """
    began, cpu = time.monotonic(), cpu_seconds()
    still = None if resume else news(job)
    if still is not None:
        lines = [still.sentence, _waits(still) or "'heldout tune --again' tries all the same."]
        return JobResult(tuned=still, text="\n".join(lines), seconds=time.monotonic() - began)
    build(job, progress)
    tuned = tune(job, progress, resume)
    scores: tuple[str, ...] = ()
    if tuned.accepted:
        scores = score(job, tuned, progress)
    text, path = report(job, tuned)
    seconds, cpu = time.monotonic() - began, cpu_seconds() - cpu
    lines = [text, "", tuned.sentence]
    lines += [said for said in (_waits(tuned),) if said]
    lines += [f"Report: {path}", f"Wall {seconds:.0f} s, CPU {cpu:.0f} s."]
    return JobResult(
        tuned=tuned,
        scores=scores,
        report=path,
        text="\n".join(lines),
        seconds=seconds,
        cpu_seconds=cpu,
    )
