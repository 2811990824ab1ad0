"""Where each model stands: proposals waiting, last score, looks left, cost, brain in use."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.brain import Brain, load_brain
from heldout.overlays import alike
from heldout.review.release import score_of
from heldout.settings import Settings
from heldout.split import read_split
from heldout.store import Ledger
from heldout.store import brain as stored_brain
from heldout.store.queries import cost, jobs, looks, proposals, releases, runs, scores


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model's line. ``usd`` is ``None`` where a price is unknown; ``job`` is its newest.

    ``brain_scored`` and ``released`` speak of what the model reads: another model's overlay makes
    no difference. ``released`` is the brain in use then, else the one released last.
    """

    model: str
    waiting: tuple[str, ...]
    job: str
    job_status: str
    last_score: str
    outcome: str
    looks_left: int
    looks_budget: int
    investigations: int
    usd: float | None
    brain_scored: bool
    released: str


@dataclass(frozen=True, slots=True)
class Status:
    """The project: the brain in use and a line per model."""

    brain: str
    set: str
    train: int
    test: int
    models: tuple[ModelStatus, ...]


def project_status(settings: Settings, ledger: Ledger | None) -> Status:
    """Gather the status; without a ledger nothing has been run yet."""
    brain = load_brain(settings.brain)
    split = read_split(settings.set_dir())
    lines = () if ledger is None else tuple(_lines(settings, ledger, brain, split.test))
    return Status(brain.hash, settings.set, len(split.train), len(split.test), lines)


def _lines(
    settings: Settings, ledger: Ledger, brain: Brain, test: tuple[str, ...]
) -> list[ModelStatus]:
    names = {row.model for row in jobs(ledger) if row.model}
    names |= {row.model for row in scores(ledger)} | {row.model for row in runs(ledger)}
    return [
        _line(settings, ledger, brain, test, name)
        for name in sorted(names | {settings.models.agent})
    ]


def _line(
    settings: Settings, ledger: Ledger, brain: Brain, test: tuple[str, ...], model: str
) -> ModelStatus:
    waiting = tuple(row.proposal for row in proposals(ledger, model=model, waiting=True))
    own_jobs = jobs(ledger, model=model)
    own_scores = [row for row in scores(ledger, model=model) if row.ended is not None]
    opened = looks(ledger, model)
    used = max((opened.get(incident, 0) for incident in test), default=0)
    spent = cost(ledger, model=model)
    released = [row for row in releases(ledger, model=model) if row.action == "release"]
    return ModelStatus(
        model=model,
        waiting=waiting,
        job=own_jobs[0].job if own_jobs else "",
        job_status=own_jobs[0].status if own_jobs else "",
        last_score=own_scores[0].score if own_scores else "",
        outcome=(own_scores[0].outcome or "") if own_scores else "",
        looks_left=max(0, settings.score.looks - used),
        looks_budget=settings.score.looks,
        investigations=spent.investigations,
        usd=spent.total_usd,
        brain_scored=score_of(ledger, brain, model) is not None,
        released=_released(ledger, released[-1].brain_hash, brain, model) if released else "",
    )


def _released(ledger: Ledger, digest: str, brain: Brain, model: str) -> str:
    return brain.hash if alike(stored_brain(ledger, digest), brain, model) else digest
