"""The digest of a failing trace: bounded, without identifiers, with the evidence in it."""

from __future__ import annotations

import json
from typing import Any

from heldout.agent.trace import Step, Trace
from heldout.interface import Submission
from heldout.propose import digest
from heldout.propose.digest import MAX_DIGEST, MAX_LINE, age, alert_time

ALERT = "# Errors\nFired at 2026-03-04T12:00:00Z\nService: quillmere-orbit\nErrors at 12 %."
REASONING = (
    "It blames change c-0000bbbb, not c-0000aaaa (it altered spec.pool.maxConns); no tool call "
    "ever showed it. The mechanism does not say: 'brimholt pool'. What happened: tarnwick-db ran out."
)


def changes(since: str, **more: Any) -> str:
    row = {"id": "c-0000bbbb", "ts": "2026-03-04T11:50:00Z", "type": "deploy", "fields": ["image"]}
    return json.dumps(
        {"rows": [row], "total_estimate": 143, "truncated": True, "cursor": "x",
         "window_used": {"since": since, "until": "2026-03-04T12:00:00Z"},
         "outside_window": 388, "data_gaps": [], **more}
    )  # fmt: skip


def trace(steps: list[Step], **more: Any) -> Trace:
    said = Submission("e-0000000b", "c-0000bbbb", "quillmere-orbit has 20 slow calls", **more)
    return Trace((), tuple(steps), said, "submitted", 5, 1, 0, 1, None, 1.0, "m")


def test_windows_are_told_in_days_before_the_alert() -> None:
    """How far back it looked, what lay outside, and that the list was cut off."""
    since = "2026-03-03T12:00:00Z"
    text = digest(trace([Step(0, "list_changes", {"since": since}, changes(since), False)]),
                  ALERT, REASONING)  # fmt: skip
    assert "the furthest reached 1.0 days before the alert" in text
    assert "outside the searched window: 388" in text
    assert "Change lists cut off: 1; narrowed by field or paged: no" in text
    assert "Change: <change-1> (deploy, minutes before the alert); its diff was never read" in text
    assert "Judge's change <change-2>: no tool call showed it" in text
    assert "get_field_history" in text.split("Tools never used:")[1].splitlines()[0]


def test_no_identifier_is_in_a_digest() -> None:
    """Names, ids, dates, values and the judge's quoted words stay behind."""
    entity = {"rows": [{"id": "e-0000000b", "kind": "Database", "name": "tarnwick-db"}]}
    steps = [
        Step(0, "search_entities", {"query": "quillmere"}, json.dumps(entity), False),
        Step(1, "list_changes", {"since": "2026-03-01T00:00:00Z", "entity_ids": ["e-0000000b"]},
             changes("2026-03-01T00:00:00Z"), False),
        Step(2, "search_logs", {"query": "tarnwick-db refused"},
             json.dumps({"rows": [{"id": "l-77", "msg": "tarnwick-db refused 17 of 20 at 11:59"}]}),
             False),
        Step(3, "get_change", {"id": "c-zzz"}, '{"error": {"type": "unknown_id", "near": []}}', True),
    ]  # fmt: skip
    text = digest(trace(steps), ALERT, REASONING).casefold()
    for name in ("tarnwick", "quillmere-orbit", "c-0000", "e-0000", "2026", "11:59", "brimholt",
                 "maxconns", "l-77"):  # fmt: skip
        assert name not in text, name
    assert "error unknown_id" in text


def test_a_digest_is_bounded() -> None:
    """Hundreds of calls with endless lines end in a text of fixed size, its ends kept."""
    long = json.dumps({"rows": [{"id": "l-1", "msg": "word " * 4000}]})
    steps = [Step(i, "search_logs", {"query": "x " * 900}, long, False) for i in range(300)]
    text = digest(trace(steps), ALERT * 50, "because " * 5000)
    assert len(text) <= MAX_DIGEST + 20
    assert "270 calls left out" in text
    assert "# Judge" in text
    assert all(len(row) <= MAX_LINE for row in text.splitlines() if row.startswith("- "))


def test_odd_answers_do_not_break_a_digest() -> None:
    """Answers that are not JSON, or not what they should be, count as nothing."""
    for answer in ("", "{", "[]", '"x"', '{"rows": 3}', '{"rows": [1, null]}', "null"):
        steps = [
            Step(i, tool, {"id": 3, "since": None}, answer, False)
            for i, tool in enumerate(("list_changes", "get_change", "get_field_history"))
        ]
        assert "# Submitted" in digest(trace(steps), "no time here", "why")  # fmt: skip


def test_ages_are_coarse() -> None:
    """A moment is told in minutes, hours or days, never to the second."""
    fired = alert_time(ALERT)
    assert age(alert_time("2026-03-04T11:50:00Z"), fired) == "minutes before the alert"
    assert age(alert_time("2026-03-04T06:00:00Z"), fired) == "about 6 hours before the alert"
    assert age(alert_time("2026-02-27T08:00:00Z"), fired) == "about 5 days before the alert"
    assert age(None, fired) == "at an unknown time"
