"""Behaviour measures: undefined when there is nothing to count."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.agent.trace import Step, Trace
from heldout.interface import Submission
from heldout.run.behaviour import alert_day, behaviour, total

ALERT = "# High error rate\nFired at 2026-03-14T09:26:53Z\nService: quill-api\n"


def step(tool: str, answer: Any = None, *, is_error: bool = False, **args: Any) -> Step:
    """One call."""
    return Step(0, tool, args, json.dumps(answer or {"rows": []}), is_error)


def trace(*steps: Step, **submitted: Any) -> Trace:
    """A trace of these calls."""
    return Trace(
        messages=(),
        steps=steps,
        submission=Submission(**submitted),
        stop_reason="submitted",
        calls=1,
        input_tokens=0,
        cached_tokens=0,
        output_tokens=0,
        usd=0.0,
        seconds=0.0,
        served_model="m",
    )


def test_with_nothing_to_count_every_share_is_undefined():
    """Neither 0 nor 1: there was no search, no evidence, no entity."""
    found = behaviour(trace(), ALERT)
    assert found.reach is None
    assert found.redundant_share is None
    assert found.grounded_evidence is None
    assert found.grounded_entities is None
    assert total([]).reach is None


@pytest.mark.parametrize(
    ("search", "reaches"),
    [
        (step("list_changes", since="2026-03-01T00:00:00Z"), True),
        (step("list_changes", since="2026-03-13T23:59:59Z"), True),
        (step("list_changes", since="2026-03-14T00:00:00Z"), False),
        (step("list_changes", since="2026-03-14"), False),
        (step("list_changes", since="2026-03-14T01:00:00+05:00"), True),
        (step("list_changes", since="last week"), False),
        (step("list_changes", since=7), False),
        (step("list_changes"), False),
        (step("get_field_history"), True),
        (step("get_field_history", since="2026-03-14T08:00:00Z"), False),
    ],
)
def test_a_search_reaches_when_it_begins_before_the_incidents_day(search: Step, reaches: bool):
    """The window's beginning decides; a whole field history reaches."""
    assert behaviour(trace(search), ALERT).reach == float(reaches)


def test_searches_that_failed_and_alerts_without_a_date_are_not_counted():
    """An error is no search, and without a day nothing can be said."""
    search = step("list_changes", since="2026-03-01T00:00:00Z")
    failed = step("list_changes", is_error=True, since="2026-03-01T00:00:00Z")
    assert behaviour(trace(failed), ALERT).reach is None
    assert behaviour(trace(search), "no date").reach is None
    assert behaviour(trace(search, failed), ALERT).reach == 1.0


def test_repeated_calls_are_redundant_whatever_the_order_of_their_arguments():
    """The same tool with the same arguments; another argument is another call."""
    calls = (
        step("look", a=1, b=2),
        step("look", b=2, a=1),
        step("look", a=1, b=3),
        step("peek", a=1, b=2),
    )
    assert behaviour(trace(*calls), ALERT).redundant == 1
    assert behaviour(trace(*calls), ALERT).redundant_share == 0.25


def test_what_is_cited_and_named_must_have_been_shown():
    """Ids count where an answer carried them, names where a row did; invented ones do not."""
    row = {"id": "e-00000001", "name": "quill-db", "entities": [{"id": "e-00000002"}]}
    seen = step("search_entities", {"rows": [row]})
    found = behaviour(
        trace(
            seen,
            root_cause_entity="e-00000002",
            affected=("quill-db", "made-up"),
            evidence_ids=("e-00000001", "l-999", "e-00000001"),
        ),
        ALERT,
    )
    assert found.grounded_evidence == 0.5
    assert found.grounded_entities == pytest.approx(2 / 3)


def test_an_error_shows_nothing():
    """Names that an error suggests were not shown as existing rows."""
    seen = step("get_entity", {"error": {"near": [{"id": "e-1"}]}}, is_error=True)
    assert behaviour(trace(seen, evidence_ids=("e-1",)), ALERT).grounded_evidence == 0.0


def test_totals_are_over_all_calls():
    """Two investigations add up before shares are taken."""
    one = behaviour(trace(step("list_changes", since="2026-03-01T00:00:00Z")), ALERT)
    three = behaviour(trace(*[step("list_changes", since="2026-03-14T00:00:00Z")] * 3), ALERT)
    assert total([one, three]).reach == 0.25
    assert total([one, three]).investigations == 2


def test_the_day_comes_from_the_alerts_own_line():
    """``Fired at`` wins over other dates; an impossible date is none."""
    assert alert_day("Deployed 2026-01-01.\nFired at 2026-03-14T00:00:00Z") == date(2026, 3, 14)
    assert alert_day("since 2026-01-01") == date(2026, 1, 1)
    assert alert_day("Fired at 2026-13-41T00:00:00Z") is None


@given(st.text(), st.dictionaries(st.text(), st.text()), st.text())
def test_hostile_traces_are_measured_too(answer: str, args: dict[str, str], alert: str):
    """Whatever a model or a log says, measuring does not fail and shares stay within 0 and 1."""
    call = Step(0, "list_changes", args, answer, False)
    found = behaviour(trace(call, evidence_ids=(answer,)), alert)
    shares = (found.reach, found.redundant_share, found.grounded_evidence)
    assert all(share is None or 0 <= share <= 1 for share in shares)
