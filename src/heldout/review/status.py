"""Where each model stands: what waits, the last score, looks left, spending, what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heldout.brain import Brain, load_brain
from heldout.llm.names import ModelName
from heldout.overlays import alike
from heldout.review.release import score_of
from heldout.run.month import open_month
from heldout.settings import Settings
from heldout.split import read_split
from heldout.store import Ledger, now_us
from heldout.store import brain as stored_brain
from heldout.store.queries import Cost, jobs, looks, proposals, releases, runs, scores
from heldout.store.spending import month_of, spending

TROUBLE_DAYS = 31
"""How far back jobs are told that failed or did not end."""
DAY = 86_400_000_000
"""Microseconds."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A job, score or run that failed, or was stopped and can be gone on with."""

    what: str
    id: str
    failed: bool
    why: str
    at: int

    @property
    def mend(self) -> str:
        """The command that goes on with it; empty for one that failed."""
        if self.failed:
            return ""
        if self.what == "canary":
            return "heldout canary"
        return (
            f"heldout score --resume {self.id}"
            if self.what == "score"
            else (f"heldout resume {self.id}")
        )


@dataclass(frozen=True, slots=True)
class LastScore:
    """The newest finished score: its word and class of evidence."""

    score: str
    outcome: str
    evidence: str
    at: int


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model's line. ``month`` is what it cost since the calendar month (UTC) began.

    ``waiting`` are proposals nobody decided about, ``waits_since`` the oldest one's moment (0
    without). ``released`` is the brain last released for it.
    """

    model: str
    waiting: tuple[str, ...]
    waits_since: int
    last: LastScore | None
    looks_left: int
    looks_budget: int
    month: Cost
    troubles: tuple[Trouble, ...]
    brain_scored: bool
    released: str

    @property
    def last_score(self) -> str:
        """The newest finished score's id; empty without one."""
        return self.last.score if self.last else ""


@dataclass(frozen=True, slots=True)
class Beside:
    """A further column: what another part of the project has to say of each model."""

    title: str
    words: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Status:
    """The project: the brain in use and a line per model. ``at`` is now."""

    brain: str
    set: str
    train: int
    test: int
    models: tuple[ModelStatus, ...]
    at: int
    beside: tuple[Beside, ...] = ()
    spent: str = ""
    """What the month's caps leave, in words; empty without a cap."""


def project_status(
    settings: Settings, ledger: Ledger | None, *, beside: Sequence[Beside] = (), now: int = 0
) -> Status:
    """Gather the status; without a ledger nothing has been run yet.

    A column ``beside`` that says something of no model is left out. Whoever reads a ledger is alone
    with it, so what has not ended was stopped.
    """
    brain = load_brain(settings.brain)
    split = read_split(settings.set_dir())
    at = now or now_us()
    lines: tuple[ModelStatus, ...] = ()
    if ledger is not None:
        lines = tuple(_lines(settings, ledger, brain, split.test, at))
    month = open_month(settings, ledger, now=lambda: at) if ledger is not None else None
    told = tuple(one for one in beside if any(one.words.values()))
    return Status(
        brain.hash,
        settings.set,
        len(split.train),
        len(split.test),
        lines,
        at,
        told,
        month.words() if month else "",
    )


def _lines(
    settings: Settings, ledger: Ledger, brain: Brain, test: tuple[str, ...], at: int
) -> list[ModelStatus]:
    names = {row.model for row in jobs(ledger) if row.model}
    names |= {row.model for row in scores(ledger)} | {row.model for row in runs(ledger)}
    return [
        _line(settings, ledger, brain, test, name, at)
        for name in sorted(names | {settings.models.agent})
    ]


def _line(
    settings: Settings, ledger: Ledger, brain: Brain, test: tuple[str, ...], model: str, at: int
) -> ModelStatus:
    waiting = proposals(ledger, model=model, waiting=True)
    opened = looks(ledger, model)
    used = max((opened.get(incident, 0) for incident in test), default=0)
    released = [row for row in releases(ledger, model=model) if row.action == "release"]
    since = at - TROUBLE_DAYS * DAY
    troubles = [one for one in _troubles(ledger, model) if one.at >= since]
    return ModelStatus(
        model=model,
        waiting=tuple(row.proposal for row in waiting),
        waits_since=min((row.created for row in waiting), default=0),
        last=_last_score(ledger, model),
        looks_left=max(0, settings.score.looks - used),
        looks_budget=settings.score.looks,
        month=spending(ledger, model=model, since=month_of(at)),
        troubles=tuple(sorted(troubles, key=lambda one: one.at, reverse=True)),
        brain_scored=score_of(ledger, brain, model) is not None,
        released=_released(ledger, released[-1].brain_hash, brain, model) if released else "",
    )


def _released(ledger: Ledger, digest: str, brain: Brain, model: str) -> str:
    return brain.hash if alike(stored_brain(ledger, digest), brain, model) else digest


def _last_score(ledger: Ledger, model: str) -> LastScore | None:
    ended = next((row for row in scores(ledger, model=model) if row.ended is not None), None)
    if ended is None:
        return None
    simulated = ModelName.parse(model).is_simulated
    evidence = "mechanism test" if simulated else "real model"
    return LastScore(ended.score, ended.outcome or "", evidence, ended.ended or 0)


def _troubles(ledger: Ledger, model: str) -> Iterator[Trouble]:
    for job in jobs(ledger, model=model, kind="tune"):
        if job.unfinished or job.status == "aborted":
            detail = job.detail if isinstance(job.detail, dict) else {}
            why = str(detail.get("reason") or "it was killed, or the machine went down")
            yield Trouble("job", job.job, job.status == "aborted", why, job.at)
    for score in scores(ledger, model=model):
        if score.ended is None:
            yield Trouble("score", score.score, False, "its look is counted", score.started)
    for run in runs(ledger, model=model):
        # What a job or a score played is told of there.
        if run.job is None and run.purpose != "score" and run.status != "finished":
            failed = run.status == "error"
            what = "canary" if run.purpose == "canary" else "run"
            yield Trouble(what, run.run, failed, _why(run.status_detail, failed), run.status_at)


def _why(detail: object, failed: bool) -> str:
    said = detail.get("why") or detail.get("reason") if isinstance(detail, dict) else ""
    return str(said or ("too much of it is invalid" if failed else "it did not end"))
