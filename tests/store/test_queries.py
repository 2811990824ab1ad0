"""Typed queries: the newest state of tables that only grow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heldout.errors import UsageError
from heldout.store import Ledger
from heldout.store import queries as q


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger."""
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        yield ledger


def investigation(**changed: Any) -> dict[str, Any]:
    """A row of table ``investigations``."""
    row = {
        "run": "r1",
        "incident": "i",
        "arm": "a",
        "repeat": 0,
        "attempt": 0,
        "seed": 1,
        "reason": "",
        "calls": 2,
        "steps": 3,
        "input_tokens": 10,
        "cached_tokens": 1,
        "output_tokens": 5,
        "usd": 0.5,
        "seconds": 1.5,
        "started": 1,
        "ended": 2,
    }
    return {**row, **changed}


def test_a_jobs_state_is_its_newest_row(ledger: Ledger):
    """Started, then finished: one job, finished; the latest by model and kind is found."""
    for job, kind, status, model in (
        ("j1", "tune", "started", "m1"),
        ("j2", "score", "started", "m1"),
        ("j1", "tune", "finished", "m1"),
        ("j3", "tune", "started", "m2"),
    ):
        ledger.append("jobs", [{"job": job, "kind": kind, "status": status, "model": model}])
    assert [(row.job, row.status) for row in q.jobs(ledger)] == [
        ("j3", "started"),
        ("j1", "finished"),
        ("j2", "started"),
    ]
    found = q.jobs(ledger, model="m1", kind="tune")
    assert [(row.job, row.status) for row in found] == [("j1", "finished")]
    assert q.jobs(ledger, model="m9") == []


def test_a_runs_state_is_its_newest_event(ledger: Ledger):
    """Runs are found by job, purpose and the beginning of their id."""
    for run, job in (("abc1", "j1"), ("abd2", "j2")):
        row = {"run": run, "job": job, "purpose": "train", "model": "m"}
        ledger.append("runs", [{**row, "manifest_json": {"x": 1}, "cases_json": []}])
    ledger.append("run_events", [{"run": "abc1", "status": "error", "detail_json": {"absent": 2}}])
    assert q.run(ledger, "abc").status == "error"
    assert q.run(ledger, "abc").status_detail == {"absent": 2}
    assert q.run(ledger, "abd").status == "started"
    assert [row.run for row in q.runs(ledger, job="j2")] == ["abd2"]
    for wrong in ("ab", "zz", ""):
        with pytest.raises(UsageError, match="abc1"):
            q.run(ledger, wrong)


def test_verdicts_stand_in_order_beside_their_investigation(ledger: Ledger):
    """The run's own is first, later ones follow; nothing is overwritten."""
    ledger.append("investigations", [investigation(repeat=1), investigation(repeat=0)])
    key = {"run": "r1", "incident": "i", "arm": "a", "repeat": 0, "attempt": 0}
    ledger.append("verdicts", [{**key, "judge": "exact", "result": "fail", "reasoning": "no"}])
    ledger.append("verdicts", [{**key, "judge": "person", "result": "pass", "author": "Ada"}])
    first, second = q.investigations(ledger, "r1")
    assert [verdict.result for verdict in first.verdicts] == ["fail", "pass"]
    assert first.verdicts[1].author == "Ada"
    assert second.verdicts == ()


def test_a_proposal_waits_until_it_is_decided(ledger: Ledger):
    """The newest decision counts, and waiting proposals are those without one."""
    for name in ("p1", "p2"):
        row = {"proposal": name, "model": "m", "before_hash": "b", "after_hash": "a"}
        ledger.append("proposals", [{**row, "diff": "d", "diff_hash": "h", "edits_json": [1]}])
    for action in ("accept", "reject"):
        ledger.append("decisions", [{"proposal": "p1", "diff_hash": "h", "action": action}])
    assert [row.proposal for row in q.proposals(ledger)] == ["p2", "p1"]
    assert [row.proposal for row in q.proposals(ledger, waiting=True)] == ["p2"]
    decided = q.proposal(ledger, "p1")
    assert decided.decision is not None
    assert (decided.decision.action, decided.edits) == ("reject", [1])
    assert len(q.decisions(ledger, "p1")) == 2
    with pytest.raises(UsageError, match="no proposal"):
        q.proposal(ledger, "p")


def test_looks_are_counted_per_incident_and_model(ledger: Ledger):
    """Two scores that opened an incident are two looks; another model's do not count."""
    for score, incident, model in (("s1", "i1", "m"), ("s2", "i1", "m"), ("s1", "i2", "m2")):
        ledger.append("looks", [{"score": score, "incident": incident, "model": model}])
    assert q.looks(ledger, "m") == {"i1": 2}
    assert q.looks(ledger, "m2") == {"i2": 1}
    assert q.looks(ledger, "m3") == {}


def test_a_score_is_its_newest_row(ledger: Ledger):
    """One row when it begins, one when it ends."""
    ledger.append(
        "scores", [{"score": "s1", "model": "m", "endpoint_json": {"reducer": "majority"}}]
    )
    assert q.score(ledger, "s1").outcome is None
    ledger.append("scores", [{"score": "s1", "model": "m", "outcome": "gain", "ended": 5}])
    assert [(row.score, row.outcome) for row in q.scores(ledger, model="m")] == [("s1", "gain")]
    with pytest.raises(UsageError):
        q.score(ledger, "s9")


def test_edits_gate_reports_and_releases_are_a_history(ledger: Ledger):
    """They come back in order and parsed."""
    for event in ("drafted", "gated"):
        row = {"edit": "e", "job": "j", "round": 1, "event": event, "detail_json": {"n": 1}}
        ledger.append("edit_events", [row])
    ledger.append("gate_reports", [{"job": "j", "edit": "e", "after_hash": "a", "passed": False}])
    ledger.append("releases", [{"brain_hash": "b", "action": "release", "model": "m"}])
    assert [row.event for row in q.edit_events(ledger, job="j")] == ["drafted", "gated"]
    assert q.edit_events(ledger, edit="e")[0].detail == {"n": 1}
    assert [row.passed for row in q.gate_reports(ledger, job="j")] == [False]
    assert [row.action for row in q.releases(ledger, model="m")] == ["release"]


def test_costs_add_up_and_unknown_stays_unknown(ledger: Ledger):
    """Invalid attempts cost too; one unknown price makes the sum unknown, an unpaid one does not."""
    run = {"purpose": "train", "model": "m", "manifest_json": {}, "cases_json": []}
    ledger.append("runs", [{**run, "run": "r1", "job": "j1"}, {**run, "run": "r2", "job": "j2"}])
    ledger.append(
        "investigations",
        [
            investigation(),
            investigation(attempt=1, reason="world", usd=None, calls=0),
            investigation(run="r2", usd=None),
        ],
    )
    one = q.cost(ledger, job="j1")
    assert (one.investigations, one.calls, one.input_tokens, one.usd) == (2, 2, 20, 0.5)
    assert q.cost(ledger, job="j2").usd is None
    assert q.cost(ledger).usd is None
    assert q.cost(ledger, job="none") == q.Cost(0, 0, 0, 0, 0, 0.0, 0.0)
