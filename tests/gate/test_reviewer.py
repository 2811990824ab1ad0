"""The reviewer's model, over a real socket: what it may add to a report, and that it fails closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.llm.wire import Reply, WireServer, body, reset, silence, status, text

from heldout.brain import APPEND, Brain
from heldout.gate.report import Finding, GateReport
from heldout.gate.reviewer import MOST_LINES, Reviewed, Reviewer, Weight, added, reviewer_lines
from heldout.llm import Bounds, open_client

MODEL = "openai/reviewer"
BEFORE = Brain(files={"method.md": "- Look at the alert.\n"}, load=("method.md",))
LINES = ("- Ask since when the limit holds.", "- The answer is the store behind the shop window.")
AFTER = BEFORE.with_file("method.md", "- Look at the alert.\n" + "\n".join(LINES) + "\n")
FAST = Bounds(connect=1, read=0.4, total=0.6, attempts=2, retry_seconds=1, first_delay=0.01)
PASSED = GateReport(True, (), 0, "1", "i", "v", "c", 0.1)
REFUSED = replace(
    PASSED, passed=False, findings=(Finding("shape", "reject", "method.md", 2, 1, 4, "#12"),)
)


def verdict(line: int, *objections: str, why: str = "because") -> dict[str, Any]:
    """What the model says of one line."""
    names = ("needs_incidents", "describes_component", "maps_to_cause")
    return {"line": line, "why": why, **{name: name in objections for name in names}}


def says(*verdicts: dict[str, Any]) -> Reply:
    """A well-formed answer."""
    return text(json.dumps({"verdicts": list(verdicts)}))


def review(
    *replies: Reply,
    weight: Weight = "warn",
    report: GateReport = PASSED,
    after: Brain = AFTER,
    asked: list[Any] | None = None,
) -> Reviewed:
    """One review, with the model's replies in turn."""

    async def run(url: str) -> Reviewed:
        client = open_client(MODEL, base_url=url, bounds=FAST)
        try:
            return await Reviewer(client, MODEL, weight).review(report, BEFORE, after)
        finally:
            await client.aclose()

    with WireServer(*replies) as server:
        found = asyncio.run(run(server.url))
        if asked is not None:
            asked += [one.body["messages"] for one in server.requests]
    return found


def rules(found: Sequence[Finding]) -> list[tuple[str, str, int]]:
    """Rule, weight and line of findings."""
    return [(one.rule, one.severity, one.line) for one in found]


def test_nothing_against_the_lines_leaves_the_report_as_it_is():
    """The answer is remembered, and costs what it cost."""
    found = review(says(verdict(1), verdict(2)))
    assert found.report == PASSED
    assert (found.asked, found.spent.calls, found.spent.tokens) == (True, 1, 110)
    assert found.plain(MODEL) == {"model": MODEL, "findings": []}
    assert reviewer_lines(found.plain(MODEL)) == [f"reviewer {MODEL}: nothing against it"]


def test_an_objection_is_a_remark_beside_its_line():
    """With weight 'warn' a person decides: the report passes and says what is held against it."""
    found = review(says(verdict(2, "describes_component", why="one can tell which"), verdict(1)))
    assert found.report.passed
    assert rules(found.report.findings) == [("reviewer", "warn", 3)]
    (finding,) = found.findings
    assert (finding.matched, finding.file) == (LINES[1], "method.md")
    assert "one can tell which" in finding.hint
    assert "names a component by description" in finding.hint
    (shown,) = reviewer_lines(found.plain(MODEL))
    assert "the store behind the shop window" in shown
    assert "(warn)" in shown


def test_an_objection_refuses_where_the_settings_say_so():
    """With weight 'reject' the report falls, and the finding comes first."""
    noted = replace(PASSED, findings=(Finding("note", "info", "method.md", 2, 1, 4, "x"),))
    found = review(says(verdict(1), verdict(2, "maps_to_cause")), weight="reject", report=noted)
    assert not found.report.passed
    assert rules(found.report.findings) == [("reviewer", "reject", 3), ("note", "info", 2)]
    assert found.failure == ""


def test_what_the_gate_refused_is_never_shown_and_stays_refused():
    """No word of the model can overturn a rejection: it is not even asked."""
    asked: list[Any] = []
    found = review(says(verdict(1), verdict(2)), report=REFUSED, asked=asked)
    assert found.report == REFUSED
    assert asked == []
    assert found.plain(MODEL) == {}


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        ([text("I'd rather talk."), text("no")], "did not parse"),
        ([says(verdict(1))], "did not answer for every line once"),
        ([says(verdict(1), verdict(2), verdict(2))], "did not answer for every line once"),
        ([says(verdict(1), verdict(7))], "did not answer for every line once"),
        ([says()], "did not answer for every line once"),
        ([status(401)], "the reviewer is away"),
        ([status(503), status(503)], "the reviewer is away"),
        ([reset, reset], "the reviewer is away"),
        ([silence], "the reviewer is away"),
        ([body(b"<html>", 200)], "the reviewer is away"),
    ],
)
@pytest.mark.parametrize("weight", ["warn", "reject"])
def test_a_reviewer_that_gives_no_answer_refuses(replies: list[Reply], why: str, weight: Weight):
    """Malformed, incomplete, away: the edit is refused with the reason, whatever the weight."""
    found = review(*replies, weight=weight)
    assert not found.report.passed
    assert rules(found.report.findings) == [("reviewer", "reject", 2)]
    assert why in found.failure
    assert found.plain(MODEL)["findings"][0]["identifier_type"] == "no answer"


def test_a_malformed_answer_gets_one_repair():
    """The second answer counts where the first cannot be read."""
    found = review(text("well..."), says(verdict(1), verdict(2)))
    assert (found.report.passed, found.spent.calls) == (True, 2)


def test_it_sees_the_edits_own_words_and_nothing_of_an_inventory():
    """Lines and the words that the gate remarked on go out; what they matched does not."""
    remark = Finding(
        "incident-identifier", "info", "method.md", 3, 5, 9, "store", identifier="kestrovan-store",
        incident="small/inc-1", hint="A name",
    )  # fmt: skip
    asked: list[Any] = []
    review(says(verdict(1), verdict(2)), report=replace(PASSED, findings=(remark,)), asked=asked)
    (messages,) = asked
    said = json.dumps(messages)
    assert all(line in said for line in LINES)
    assert "incident-identifier" in said
    assert "kestrovan" not in said
    assert "inc-1" not in said


def test_an_edit_that_adds_nothing_asks_nobody():
    """Dropping a line tells nothing."""
    asked: list[Any] = []
    assert review(says(), after=BEFORE, asked=asked).report == PASSED
    assert asked == []


def test_a_book_is_refused_unread():
    """More lines than anybody reads at once."""
    text_of = "\n".join(f"- Look at thing {n} once more." for n in range(MOST_LINES + 1))
    asked: list[Any] = []
    found = review(says(), after=BEFORE.with_file("method.md", text_of), asked=asked)
    assert (found.report.passed, asked) == (False, [])
    assert "too many to review" in found.failure


def test_added_lines_know_their_place_and_new_files_their_name():
    """Also what stands in a file name is read."""
    new = "overlays/models/x/shop-window.md"
    after = AFTER.with_file(new, f"{APPEND}\n\n- Ask twice.\n")
    lines = added(BEFORE, after)
    assert [(one.file, one.number) for one in lines[:2]] == [("method.md", 2), ("method.md", 3)]
    assert [one.text for one in lines if one.file == new] == [new, "- Ask twice."]
