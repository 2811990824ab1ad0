"""What single commands do with the stages: score, report, compare, resume a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from heldout.errors import UsageError
from heldout.pipeline.job import Job, JobResult
from heldout.pipeline.progress import SILENT, Say
from heldout.pipeline.stages import (
    REQUEST,
    build_worlds,
    run_stages,
    start_score,
    write_report_of,
)
from heldout.settings import Settings, load_settings

if TYPE_CHECKING:
    from heldout.brain import Brain
    from heldout.score import ScoreResult
    from heldout.store import Ledger


@dataclass(frozen=True, slots=True)
class Scoring:
    """What ``heldout score`` was asked for; empty means the default."""

    model: str = ""
    before: str = ""
    after: str = ""
    arms: tuple[str, ...] = ("noop",)
    blind: str = ""
    checklist: Path | None = None
    nearest: int = 3
    set: str = ""
    base_url: str = ""
    skip_exhausted: bool = False
    max_usd: float | None = None
    resume: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A finished score with its report."""

    result: ScoreResult
    text: str
    report: str


def score_now(settings: Settings, asked: Scoring, say: Say = SILENT) -> Scored:
    """Score two brains on the held-out half; by default the last decision's before and after."""
    from heldout.score import ScoreRequest, page_text, wished
    from heldout.store import Ledger

    model = asked.model or settings.models.agent
    page = page_text(asked.checklist)
    say("building worlds")
    build_worlds(settings)
    with Ledger.open(settings.ledger) as ledger:
        begun = _begun(ledger, asked) if asked.resume else None
        before, after, job = (
            _brains(settings, ledger, asked, model) if begun is None else ("", "", "")
        )
    wanted = {
        "model": model,
        "before": before,
        "after": after,
        "job": job,
        **wished(asked.arms, blind=asked.blind, checklist=page),
        "nearest": asked.nearest,
        "set": asked.set or settings.set,
        "base_url": asked.base_url or settings.models.base_url,
        "skip_exhausted": asked.skip_exhausted,
        "max_usd": asked.max_usd,
    }
    try:
        request = ScoreRequest.model_validate({**(begun or wanted), "resume": asked.resume})
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("_", "-")
        raise UsageError(f"--{option}: {first['msg']}", mend="See --help") from error
    result = start_score(settings, request, say)
    text, path = write_report_of(settings, result.score)
    return Scored(result, text, path)


def _begun(ledger: Ledger, asked: Scoring) -> dict[str, Any] | None:
    """What a score that is gone on with was asked for, at the endpoint named now if one is.

    None for one that was begun before that was kept: then it has to be asked for again.
    """
    from heldout.store.queries import score

    row = score(ledger, asked.resume)
    kept = (row.endpoint or {}).get("asked")
    if kept is None or not asked.base_url:
        return kept
    return {**kept, "base_url": asked.base_url}


def _brains(settings: Settings, ledger: Ledger, asked: Scoring, model: str) -> tuple[str, str, str]:
    """Hashes of the brain before and after, and the job that they come from."""
    from heldout.brain import load_brain
    from heldout.overlays import alike
    from heldout.store import brain as stored_brain
    from heldout.store import remember_brain
    from heldout.store.queries import proposals

    current = load_brain(settings.brain)
    remember_brain(ledger, current)
    ledger.flush()
    after = _named(ledger, asked.after) if asked.after else current
    if asked.before:
        return _named(ledger, asked.before).hash, after.hash, ""
    for row in proposals(ledger, model=model):
        if row.decision is None or row.decision.action != "accept":
            continue
        if after.hash == row.after_hash:
            return row.before_hash, after.hash, row.job or ""
        led = row.decision.edits or {}
        made = str(led.get("after") or row.after_hash)
        # Another model's overlay may have been accepted since: this model cannot tell.
        if alike(stored_brain(ledger, made), after, model):
            return str(led.get("before") or row.before_hash), made, row.job or ""
    raise UsageError(
        "no accepted proposal leads to this brain",
        where=after.hash[:12],
        mend="Name the brain before with --before HASH; 'heldout status' shows the one in use",
    )


def _named(ledger: Ledger, name: str) -> Brain:
    """The brain of a hash, or of a folder, which is then kept."""
    from heldout.brain import MANIFEST, load_brain
    from heldout.store import brain as stored_brain
    from heldout.store import remember_brain

    if not (Path(name) / MANIFEST).is_file():
        return stored_brain(ledger, name)
    found = load_brain(Path(name))
    remember_brain(ledger, found)
    ledger.flush()
    return found


def report_of(settings: Settings, of: str = "") -> tuple[str, str]:
    """The report of a job or score (by default the newest) as text, and its HTML file's path."""
    return write_report_of(settings, of)


def score_by_name(project: str, model: str, before: str, after: str) -> str:
    """Score with plain parameters, for a flow; returns the report's path."""
    settings = load_settings(Path(project) if project else None)
    done = score_now(settings, Scoring(model=model, before=before, after=after))
    return done.report


def compare_by_name(
    settings: Settings, first: str, second: str, *, fail_on_harm: bool = False
) -> str:
    """Two stored runs (``RUN`` or ``RUN:ARM``) side by side, as text."""
    from heldout.compare import compare_stored, render_comparison, require
    from heldout.report.judges import comparison_notes
    from heldout.run import outcomes
    from heldout.store import Ledger

    with Ledger.open(settings.ledger) as ledger:
        comparison = compare_stored(ledger, first, second, outcomes)
        notes = comparison_notes(ledger, first, second)
    if fail_on_harm:
        require(comparison)
    return "\n".join([*notes, render_comparison(comparison)])


def resume_job(project: Path | None, job: str = "", *, progress: Say = SILENT) -> JobResult | None:
    """Go on with a job that was stopped: what it was asked for counts, finished work is kept.

    ``None`` when there is no such job, or without a name none that was stopped.
    """
    from heldout.store import Ledger
    from heldout.store.queries import jobs

    settings = load_settings(project)
    with Ledger.open(settings.ledger) as ledger:
        asked = {row.job: row for row in jobs(ledger, kind=REQUEST)}
        names = [
            name
            for name in asked
            if (name.startswith(job) if job else _unfinished(ledger, name, asked[name].detail))
        ]
    if not names:
        return None
    name = names[0]
    request = Job.model_validate({**asked[name].detail, "project": str(settings.root)})
    return run_stages(request, progress=progress, resume=name)


def _unfinished(ledger: Ledger, name: str, asked: dict[str, Any]) -> bool:
    """True for a job that did not end, or was accepted by policy and is not scored yet."""
    from heldout.store.queries import jobs, proposals, scores

    states = [row for row in jobs(ledger, kind="tune") if row.job == name]
    if not states or states[0].unfinished:
        return True
    if asked.get("review") != "auto" or not proposals(ledger, job=name):
        return False
    ended = {row.model for row in scores(ledger, job=name) if row.ended is not None}
    return len(ended) < 1 + len(asked.get("transfer") or ())
