"""The Monday table: one row for each model, and what waits for somebody below it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.review import tiny

from heldout.cli.status import render
from heldout.review import Beside, ModelStatus, project_status
from heldout.settings import Settings
from heldout.store import Ledger

project, ledger = tiny.project, tiny.ledger
SIM, REAL = "sim/anchored@low", "openai/gpt-x@low"
DAY = 86_400_000_000
NOW = int(datetime(2026, 3, 9, 9, 0, tzinfo=UTC).timestamp() * 1e6)


def job(name: str, status: str, at: int, **changes: Any) -> dict[str, Any]:
    """A tuning job's row."""
    return {"job": name, "kind": "tune", "status": status, "model": SIM, "at": at, **changes}


def proposal(name: str, at: int) -> dict[str, Any]:
    """A proposal that waits."""
    return {"proposal": name, "model": SIM, "before_hash": "b", "after_hash": "a", "diff": "",
            "diff_hash": "d", "created": at}  # fmt: skip


def scored(name: str, model: str, outcome: str | None) -> dict[str, Any]:
    """A score's row; without an outcome it has not ended."""
    ended = None if outcome is None else NOW
    return {"score": name, "model": model, "after_hash": "", "outcome": outcome,
            "started": NOW - DAY, "ended": ended}  # fmt: skip


def line(settings: Settings, ledger: Ledger, model: str = SIM) -> ModelStatus:
    """One model's row."""
    ledger.flush()
    return next(
        one for one in project_status(settings, ledger, now=NOW).models if one.model == model
    )


def test_a_waiting_proposal_has_the_age_of_the_oldest(project: Settings, ledger: Ledger):
    """Two proposals wait; the row counts them and says how long the older one has waited."""
    ledger.append("proposals", [proposal("p-1", NOW - 3 * DAY), proposal("p-2", NOW - DAY)])
    assert line(project, ledger).waits_since == NOW - 3 * DAY
    text = render(project_status(project, ledger, now=NOW))
    assert "2 (3 days)" in text
    assert "heldout review p-1" in text


def test_the_last_score_has_its_word_and_its_class(project: Settings, ledger: Ledger):
    """A simulated model's is a mechanism test, a real model's is one of a real model."""
    rows = [
        scored("s1", SIM, "mechanism shown"),
        scored("s2", REAL, "gain"),
        scored("s3", REAL, "harm"),
    ]
    ledger.append("scores", rows)
    mine, real = line(project, ledger).last, line(project, ledger, REAL).last
    assert mine is not None
    assert real is not None
    assert (mine.outcome, mine.evidence) == ("mechanism shown", "mechanism test")
    assert (real.outcome, real.evidence) == ("harm", "real model")
    assert "harm (real model)" in render(project_status(project, ledger, now=NOW))


def test_stopped_and_failed_jobs_are_told_with_what_goes_on(project: Settings, ledger: Ledger):
    """A job, a score and a run that did not end are each named with their command; ended ones not."""
    ledger.append("jobs", [
        job("tune-1", "started", NOW - DAY),
        job("tune-2", "started", NOW - DAY), job("tune-2", "saturated", NOW - DAY),
        job("tune-3", "aborted", NOW - DAY, detail_json={"reason": "a \x1b[2Jleak\nin two lines"}),
        job("tune-4", "interrupted", NOW - 40 * DAY),
    ])  # fmt: skip
    ledger.append("scores", [scored("s1", SIM, None)])
    run = {"model": SIM, "manifest_json": {}, "cases_json": [], "started": NOW - DAY}
    ledger.append("runs", [
        {**run, "run": "r1", "purpose": "train"}, {**run, "run": "r2", "purpose": "score"},
        {**run, "run": "r3", "purpose": "train", "job": "tune-1"},
    ])  # fmt: skip
    ledger.append("run_events", [
        {"run": "r1", "status": "capped", "detail_json": {"why": "USD"}, "at": NOW - DAY}
    ])  # fmt: skip
    found = {one.id: one for one in line(project, ledger).troubles}
    assert set(found) == {"tune-1", "tune-3", "s1", "r1"}
    assert found["tune-1"].mend == "heldout resume tune-1"
    assert found["s1"].mend == "heldout score --resume s1"
    assert (found["tune-3"].failed, found["tune-3"].mend) == (True, "")
    text = render(project_status(project, ledger, now=NOW))
    assert "1 failed, 3 unfinished" in text
    assert "run r1" in text
    assert "tune-4" not in text
    assert "a leak in two lines" in text


def test_the_months_spending_leaves_out_last_month(project: Settings, ledger: Ledger):
    """What was spent before the first of the month is not in the row; unknown stays unknown."""
    run = {"run": "r1", "purpose": "train", "model": SIM, "manifest_json": {}, "cases_json": [],
           "started": 1}  # fmt: skip
    row = {"run": "r1", "incident": "a", "arm": "a", "repeat": 0, "attempt": 0, "seed": 1,
           "reason": "", "calls": 1, "steps": 1, "input_tokens": 900, "cached_tokens": 0,
           "output_tokens": 100, "usd": 0.5, "seconds": 1.0, "started": 1, "ended": NOW}  # fmt: skip
    ledger.append("runs", [run])
    ledger.append("investigations", [row, {**row, "repeat": 1, "ended": NOW - 10 * DAY}])
    assert line(project, ledger).month.total_usd == 0.5
    ledger.append("investigations", [{**row, "repeat": 2, "usd": None}])
    assert line(project, ledger).month.total_usd is None
    assert "unknown USD, 2.0 k tokens" in render(project_status(project, ledger, now=NOW))


def test_a_further_column_appears_only_where_it_says_something(project: Settings, ledger: Ledger):
    """What another part knows of a model stands beside it; a column without a word is left out."""
    empty, told = Beside("drafts", {}), Beside("canary", {SIM: "steady"})
    text = render(project_status(project, ledger, beside=(empty, told), now=NOW))
    assert "canary" in text
    assert "steady" in text
    assert "drafts" not in text


def test_a_fresh_project_is_told_what_comes_first(project: Settings):
    """Without a ledger the next step is the plan, which costs nothing."""
    assert "heldout tune --plan" in render(project_status(project, None))
