"""A job with a reviewer's model: asked about what the gate lets through, over a real socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.llm.wire import Handler, WireServer, completion, status
from tests.tune.test_job import GOOD, go, line

from heldout.review import page
from heldout.settings import GateSettings
from heldout.store.queries import edit_events, gate_reports, proposals

MODEL = "openai/reviewer"
PLAIN = {"needs_incidents": False, "describes_component": False, "maps_to_cause": False}


def answers(handler: Handler) -> None:
    """Nothing against any line, but a mapping where one says 'always'."""
    asked = handler.server.owner.requests[-1].body["messages"][-1]["content"]
    told = asked.split("[[ ## lines ## ]]")[1].split("[[ ##")[0]
    lines = json.loads(told)
    said = [
        {"line": int(number), "why": "it maps", **PLAIN, "maps_to_cause": "always" in text}
        for number, text in lines.items()
    ]
    content = json.dumps({"verdicts": said})
    handler.send_bytes(json.dumps(completion({"content": content})).encode())


@pytest.fixture
def server() -> Iterator[WireServer]:
    """The reviewer's model."""
    with WireServer(answers) as opened:
        yield opened


def reviewed_by(project: Any, server: WireServer, objections: str) -> None:
    """Name the reviewer in the project's settings."""
    gate = GateSettings(
        reviewer=MODEL, reviewer_base_url=server.url, objections=objections,  # type: ignore[arg-type]
    )  # fmt: skip
    project.settings = replace(project.settings, gate=gate)


BOLD = "- Search the 14 days before the alert, always the pool first."


def test_what_it_says_stands_in_the_proposal_and_on_the_page(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, server: WireServer
) -> None:
    """A remark does not stop an edit; a person sees it beside the lines."""
    reviewed_by(project, server, "warn")
    done = go(project, parts, monkeypatch, proposer=parts.proposer(lambda _: [line(BOLD)]))
    with project.ledger() as ledger:
        (row,) = proposals(ledger)
        shown = page(ledger, done.proposal).text()
        report = gate_reports(ledger)[0].report
        spent = [e.detail["spent"]["calls"] for e in edit_events(ledger) if e.event == "gated"]
    assert row.edits[0]["review"]["model"] == MODEL
    assert f"REVIEWER {MODEL} (warn): '{BOLD}'" in shown
    assert [one["rule"] for one in report["findings"]] == ["reviewer"]
    assert sum(spent) == len(server.requests) > 0


def test_a_clean_edit_says_who_reviewed_it(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, server: WireServer
) -> None:
    """Silence of a reviewer that was asked is not that of one that was not."""
    reviewed_by(project, server, "reject")
    done = go(project, parts, monkeypatch, proposer=parts.proposer(lambda _: [line(GOOD)]))
    with project.ledger() as ledger:
        assert f"reviewer {MODEL}: nothing against it" in page(ledger, done.proposal).text()


def test_an_objection_with_weight_refuses_and_is_told_to_the_author(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, server: WireServer
) -> None:
    """The edit goes back once with the line and the reason, as one that a checker refused."""
    reviewed_by(project, server, "reject")
    proposer = parts.proposer(lambda _: [line(BOLD)])
    done = go(project, parts, monkeypatch, proposer=proposer)
    assert (done.proposal, done.accepted) == ("", ())
    assert done.rejected["gate"] > 0
    revised = [one["messages"][-1]["content"] for one in proposer.bodies]
    assert any("maps a symptom to a cause" in text and BOLD in text for text in revised)


def test_a_reviewer_that_is_away_refuses_every_edit(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fail closed: nothing is proposed unread, and the job's record says why."""
    with WireServer(status(401)) as away:
        reviewed_by(project, away, "warn")
        done = go(project, parts, monkeypatch, proposer=parts.proposer(lambda _: [line(GOOD)]))
    with project.ledger() as ledger:
        failures = {e.detail["failure"] for e in edit_events(ledger) if e.event == "gated"}
    assert done.proposal == ""
    assert len(failures) == 1
    assert "the reviewer is away" in failures.pop()


def test_without_a_reviewer_nobody_is_asked(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, server: WireServer
) -> None:
    """Off by default."""
    done = go(project, parts, monkeypatch, proposer=parts.proposer(lambda _: [line(GOOD)]))
    with project.ledger() as ledger:
        assert "eviewer" not in page(ledger, done.proposal).text()
    assert server.requests == []


def test_a_refused_draft_is_not_shown_to_the_reviewer(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, server: WireServer
) -> None:
    """What the checkers refuse costs no review."""
    reviewed_by(project, server, "warn")
    leak = "- Remember the case of PR #4711, applied at 12:10."
    go(project, parts, monkeypatch, proposer=parts.proposer(lambda _: [line(leak)]))
    assert all("4711" not in json.dumps(one.body) for one in server.requests)
