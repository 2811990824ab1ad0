"""The page shows what the probes found beside each line, and says loudly what was not probed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heldout.behaviour import BehaviourReport, Counts, Line, UnitReport, invariance
from heldout.behaviour.ablation import LineEffect
from heldout.behaviour.closed_book import reading
from heldout.brain import Brain
from heldout.edit import Edit, Op, apply_edit, diff, diff_hash
from heldout.review import page
from heldout.store import Ledger, remember_brain

BEFORE = Brain(files={"method.md": "# Method\n- Look.\n"}, load=("method.md",))
TEXT = "- Ask when the value became what it is."
EDIT = Edit(
    (Op("method.md", "append", text=TEXT),),
    "origin",
    expected_effect="Old causes are found.",
    feared_harm="More to read.",
)
EFFECT = LineEffect(Line("method.md", 3, TEXT), "case_specific", 6, 3, 0, 0.125, 1, 5)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger, open."""
    with Ledger.open(tmp_path / "ledger.duckdb") as opened:
        yield opened


def text(ledger: Ledger, report: BehaviourReport | None, *, split: bool = True) -> str:
    """The page of a proposal of one edit; not ``split`` is a diff that somebody amended."""
    after = apply_edit(BEFORE, EDIT)
    for brain in (BEFORE, after):
        remember_brain(ledger, brain)
    plain = report.plain() if report else None
    unit: Any = plain["units"][0] if plain else {}
    told = reading({"i": [(False, True)]}, certain=0, look=1, looks=3).plain()
    row = {
        "proposal": "p-1", "job": "j", "model": "sim/anchored@low", "set": "s",
        "before_hash": BEFORE.hash, "after_hash": after.hash, "diff": diff(BEFORE, after),
        "diff_hash": diff_hash(BEFORE, after),
        "edits_json": [{"edit": EDIT.plain(), "behaviour": unit, "closed_book": told}] * split,
        "evidence_json": {"behaviour": plain} if plain else {},
    }  # fmt: skip
    ledger.append("proposals", [row])
    return page(ledger, "p-1").text()


def report(renamed: int = 6, **more: Any) -> BehaviourReport:
    """A report on one edit."""
    survived = invariance(Counts(6, 6), Counts(renamed, 6), 6)
    return BehaviourReport(None, survived, (UnitReport(EDIT.id, (EFFECT,), survived),), **more)


def test_each_line_has_its_effect_under_it(ledger: Ledger) -> None:
    """Line, what dropping it did, what the alert alone tells, what renaming leaves."""
    shown = text(ledger, report())
    after_line = shown.split(f"  + {TEXT}\n")[1].splitlines()
    assert after_line[0].strip().startswith("dropped: CASE-SPECIFIC")
    assert "alert only: named more causes than before, too few to decide" in shown
    assert "  renamed: effect kept (fixes 6 of 6" in shown
    assert "behaviour: LOOK: 1 line(s)" in shown
    assert "NOT PASSED" not in shown
    assert "  expected: Old causes are found.\n  feared: More to read.\n" in shown


def test_an_amended_change_shows_its_lines_too(ledger: Ledger) -> None:
    """It is no list of edits; a probe that decides against it is said at the top."""
    shown = text(ledger, report(renamed=0), split=False)
    head = shown.split("\n\n")[0]
    assert "BEHAVIOUR NOT PASSED: its effect does not survive other names and values" in head
    assert f"method.md:3 + {TEXT}\n      dropped: CASE-SPECIFIC" in shown


def test_what_was_not_probed_is_said(ledger: Ledger) -> None:
    """A proposal without probes, or without some, never looks like one that passed them."""
    assert "behaviour: NOT PROBED" in text(ledger, None)


def test_a_missing_probe_is_named(ledger: Ledger) -> None:
    """Each with its reason."""
    shown = text(ledger, report(notes=("alert only: switched off",)))
    assert "behaviour: not probed: alert only: switched off" in shown
