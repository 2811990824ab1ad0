"""What a later job may know of earlier ones, and what never gets into its memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heldout.edit import Edit, Op
from heldout.propose import Recalled, recall
from heldout.store import Ledger

CASES = [["i-1", "d", "t"]]
EDIT = Edit((Op("method.md", "append", "", "- Look at the pool of brimholt first."),), "", "noise")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger, open."""
    with Ledger.open(tmp_path / "ledger.duckdb") as opened:
        yield opened


def fill(ledger: Ledger, *, by: str = "screen", incident: str = "i-1", **more: Any) -> None:
    """One job that drafted an edit, had it gated, and refused it."""
    finding = {"rule": "names", "matched": "brimholt", "incident": incident}
    detail = {"cases": CASES}
    ledger.append("jobs", [{"job": "tune-1", "kind": "tune", "status": "started",
                            "model": "m/one", "detail_json": detail}])  # fmt: skip
    steps = [
        ("drafted", {"edit": EDIT.plain()}),
        ("gated", {"passed": by != "gate", "findings": [finding] if by == "gate" else []}),
        (
            "rejected",
            {
                "by": by,
                "reason": "it fell",
                "key": "round/1/0/0/rejected",
                "target": {"fixed": more.get("fixed", 0), "broken": 0},
            },
        ),
        *([("gated", {"passed": True, "key": "round/1/0/1/gate"})] if more.get("mended") else []),
        *([("accepted", {})] if more.get("accepted_later") else []),
    ]
    ledger.append("edit_events", [
        {"edit": EDIT.id, "job": "tune-1", "round": 1, "event": event, "detail_json": said}
        for event, said in steps
    ])  # fmt: skip
    ledger.append("gate_reports", [{
        "job": "tune-1", "edit": EDIT.id, "before_hash": "b", "after_hash": "after",
        "passed": by != "gate", "test_side_only": more.get("sealed", False),
        "report_json": {"findings": [finding] if by == "gate" else []},
    }])  # fmt: skip


def test_a_refusal_is_recalled_with_why_and_survives_the_ledger(ledger: Ledger) -> None:
    """Text, reason and the brain that it led to; another model's job knows nothing of it."""
    fill(ledger)
    found = recall(ledger, "m/one", CASES)
    assert [(one.edit, one.why) for one in found.memory] == [(EDIT.id, "it fell")]
    assert found.brains == {"after"}
    assert Recalled.from_plain(found.plain()) == found
    assert Recalled.from_plain({}) == Recalled()
    assert recall(ledger, "m/two", CASES) == Recalled()


def test_only_the_same_incidents_speak_against_a_second_try(ledger: Ledger) -> None:
    """With other incidents it may be tried again, but its author is told."""
    fill(ledger)
    found = recall(ledger, "m/one", [["i-2", "d", "t"]])
    assert (len(found.memory), found.brains) == (1, frozenset())


def test_too_little_evidence_does_not_speak_against_a_second_try(ledger: Ledger) -> None:
    """An edit that led when its looks were used up is told of and may be tried again."""
    fill(ledger, fixed=3)
    found = recall(ledger, "m/one", CASES)
    assert (len(found.memory), found.brains) == (1, frozenset())


@pytest.mark.parametrize("more", [{"accepted_later": True}, {"mended": True, "by": "gate"}])
def test_what_was_kept_after_all_is_not_recalled(ledger: Ledger, more: Any) -> None:
    """Accepted in a later round, or passed once it was mended: no warning of good advice."""
    fill(ledger, **more)
    assert recall(ledger, "m/one", CASES) == Recalled()


def test_what_a_checker_marked_is_blanked_and_may_be_tried_again(ledger: Ledger) -> None:
    """A checker can change its mind, so its refusal bars nothing; its mark stays blank."""
    fill(ledger, by="gate")
    found = recall(ledger, "m/one", CASES)
    assert [one.text for one in found.memory] == ["- Look at the pool of [...] first."]
    assert found.brains == frozenset()


@pytest.mark.parametrize("how", [{"incident": "held-out"}, {"sealed": True}])
def test_material_of_the_held_out_half_is_never_recalled(ledger: Ledger, how: Any) -> None:
    """Not blanked but left out: a later proposer does not learn that there was such an edit."""
    fill(ledger, by="gate", **how)
    assert recall(ledger, "m/one", CASES) == Recalled()


def test_a_ledger_without_jobs_recalls_nothing(ledger: Ledger) -> None:
    """The first job of a model begins with an empty memory."""
    assert recall(ledger, "m/one", CASES) == Recalled()
