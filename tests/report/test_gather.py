"""From a ledger's rows to the report's data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heldout.errors import UsageError
from heldout.report import gather, render_html, render_text, write_report
from heldout.report.history import WITHHELD
from heldout.settings import Settings
from heldout.store import Ledger

EDIT = {
    "ops": [
        {"file": "method.md", "action": "append", "anchor": "", "text": "- Look further back."}
    ],
    "reason": "It stops early.",
    "cluster": "stops at the mechanism",
}
EFFECT = {
    "pairs": 12,
    "fixed": 9,
    "broken": 0,
    "incidents": 6,
    "fixed_incidents": 5,
    "broken_incidents": 0,
}


def event(of: str, name: str, number: int, **detail: Any) -> dict[str, Any]:
    """One row of edit_events."""
    return {"edit": of, "job": "tune-1", "round": number, "event": name, "detail_json": detail}


def fill(ledger: Ledger, *, decided: bool = True) -> None:
    """A job that accepted one edit, refused two, and proposed."""
    job = {"job": "tune-1", "kind": "tune", "model": "sim/anchored@low", "set": "prod_hard"}
    ledger.append("jobs", [job | {"kind": "request", "status": "asked", "detail_json": {}}])
    ledger.append(
        "jobs",
        [
            job
            | {
                "status": "started",
                "detail_json": {"proposer": "sim/proposer", "options": {"strategy": "blind"}},
            }
        ],
    )
    ledger.append(
        "edit_events",
        [
            event("", "asked", 1, spent={"calls": 1, "input_tokens": 900, "output_tokens": 100, "usd": 0.0}),
            event("e-good", "drafted", 1, edit=EDIT),
            event("e-good", "gated", 1, passed=True, failure="", findings=[]),
            event("e-good", "screened", 1, look=1, ruling="accept"),
            event("e-good", "accepted", 1, reason="it fixed", cluster="c", target=EFFECT, regression=EFFECT),
            event("e-leak", "drafted", 1, edit={**EDIT, "reason": "because of secretpool"}),
            event("e-leak", "gated", 1, passed=False, failure="",
                  findings=[{"rule": "identifier", "matched": "secretpool", "how": "state the method"}]),
            event("e-leak", "rejected", 1, by="gate", reason="the checker refused it", cluster="c"),
            event("e-name", "drafted", 2, edit=EDIT),
            event("e-name", "gated", 2, passed=False, failure="",
                  findings=[{"rule": "identifier", "matched": "trainpool", "how": "say it in general"}]),
            event("e-name", "rejected", 2, by="gate", reason="the checker refused it", cluster="c"),
        ],
    )  # fmt: skip
    ledger.append(
        "gate_reports",
        [
            {"job": "tune-1", "edit": edit, "after_hash": "x", "passed": False, "test_side_only": False,
             "report_json": {"findings": [{"incident": incident}]}, "gate_version": "1",
             "inventory_hash": "i", "vocabulary_hash": "v", "checkers_hash": "c"}
            for edit, incident in (("e-leak", "held-out"), ("e-name", "inc-1"))
        ],
    )  # fmt: skip
    incidents = [
        {"incident": "inc-1", "kind": "trap", "before": [False, False], "after": [True, True]},
        {
            "incident": "inc-2",
            "kind": "onset_control",
            "before": [True, True],
            "after": [True, True],
        },
    ]
    ledger.append(
        "proposals",
        [
            {"proposal": "p-1", "job": "tune-1", "model": "sim/anchored@low", "set": "prod_hard",
             "before_hash": "b" * 64, "after_hash": "a" * 64, "diff": "+- Look further back.\n",
             "diff_hash": "d" * 64, "edits_json": [EDIT],
             "evidence_json": {"incidents": incidents, "size": {"lines_before": 4, "lines_after": 5}}}
        ],
    )  # fmt: skip
    if decided:
        ledger.append(
            "decisions",
            [
                {
                    "proposal": "p-1",
                    "diff_hash": "d" * 64,
                    "action": "accept",
                    "name": "policy:auto",
                    "reason": "demo",
                }
            ],
        )
    ledger.append("jobs", [job | {"status": "saturated", "detail_json": {"reason": "all solved"}}])


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """An open ledger of an empty project."""
    with Ledger.open(tmp_path / ".heldout" / "ledger.duckdb") as opened:
        yield opened


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The project around it."""
    return Settings(root=tmp_path)


def put_score(ledger: Ledger, score: Any) -> None:
    """A finished score with its opening row."""
    row = {
        "score": score.score, "job": score.job, "model": score.model, "set": score.set,
        "before_hash": score.before_hash, "after_hash": score.after_hash,
        "endpoint_json": dict(score.endpoint), "endpoint_hash": score.endpoint_hash,
    }  # fmt: skip
    ledger.append("scores", [row])
    ledger.append(
        "scores", [row | {"result_json": score.plain(), "outcome": score.outcome, "ended": 1}]
    )


def test_an_empty_ledger_has_nothing_to_report(ledger: Ledger, settings: Settings):
    """The error says what to run first."""
    with pytest.raises(UsageError, match="heldout tune"):
        gather(ledger, settings)


def test_a_job_becomes_its_course(ledger: Ledger, settings: Settings):
    """Accepted and rejected edits with their fates, effects, findings, costs and who decided."""
    fill(ledger)
    data = gather(ledger, settings)
    tuning = data.tuning
    assert tuning is not None
    assert (tuning.status, tuning.reason, tuning.proposer) == (
        "saturated",
        "all solved",
        "sim/proposer",
    )
    assert tuning.strategy == "blind"
    assert [edit.id for edit in tuning.accepted] == ["e-good"]
    assert tuning.accepted[0].target is not None
    assert tuning.accepted[0].target.fixed == 9
    assert tuning.rejected_by == {"gate": 2}
    assert tuning.stages[-1].tokens == 1000
    assert data.evidence.startswith("Mechanism test, not scored")
    assert "by policy (auto), not by a person" in data.review
    assert [(row.kind, row.before, row.after) for row in data.halves] == [
        ("traps", 0, 1),
        ("controls", 1, 1),
    ]


def test_what_touches_the_held_out_half_is_withheld(ledger: Ledger, settings: Settings):
    """An edit refused for held-out material shows its rule only; one about train shows its words."""
    fill(ledger)
    for rendered in (render_html(gather(ledger, settings)), render_text(gather(ledger, settings))):
        assert "secretpool" not in rendered
    html = render_html(gather(ledger, settings))
    assert WITHHELD in html
    assert "trainpool" in html


def test_a_waiting_proposal_says_so(ledger: Ledger, settings: Settings):
    """Without a decision the page names the command that makes one."""
    fill(ledger, decided=False)
    data = gather(ledger, settings, "p-1")
    assert "waits for a decision" in data.verdict
    assert "Nobody has decided" in data.review


def test_a_job_and_its_scores_make_one_report(ledger: Ledger, settings: Settings, maker: Any):
    """The model that the job was tuned for is the subject, the other shows what carries over."""
    fill(ledger)
    put_score(ledger, maker().score())
    put_score(ledger, maker(model="sim/scattered@low").score(score="ffff00001111"))
    for name in ("", "tune-1", "0a1b", "p-1"):
        data = gather(ledger, settings, name)
        assert data.score is not None
        assert data.score.model == "sim/anchored@low"
        assert [other.model for other in data.others] == ["sim/scattered@low"]
        assert data.proposal is not None
    assert gather(ledger, settings, "ffff").score.model == "sim/scattered@low"  # type: ignore[union-attr]
    names = dict(gather(ledger, settings).hashes)
    assert names["endpoint"] == "e" * 64
    assert names["checkers"] == "c"
    path = write_report(settings, ledger)
    assert path.parent == settings.reports
    assert "Mechanism test" in path.read_text()


def test_a_score_that_was_killed_is_named(ledger: Ledger, settings: Settings):
    """A score begun and not ended is neither a result nor forgotten."""
    fill(ledger)
    row = {"score": "dead00", "job": "tune-1", "model": "sim/anchored@low", "endpoint_json": {}}
    ledger.append("scores", [row])
    data = gather(ledger, settings)
    assert data.score is None
    assert data.unfinished == ("dead00",)


def test_an_unknown_name_is_a_usage_error(ledger: Ledger, settings: Settings):
    """Known names are listed."""
    fill(ledger)
    with pytest.raises(UsageError, match="tune-1"):
        gather(ledger, settings, "nope")
