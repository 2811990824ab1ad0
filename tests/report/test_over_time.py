"""What a report says beyond one job: looks, segments, the brain's lines and their origin, cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from heldout.brain import Brain, load_brain, write_brain
from heldout.build.labels import Labels, write_labels
from heldout.drift import Canary
from heldout.edit import Edit, Op, apply_edits, diff, diff_hash
from heldout.report import gather, render_html, render_text
from heldout.report.over_time.lineage import BrainChange, brain_change
from heldout.report.over_time.looks import looks_at
from heldout.report.over_time.segments import FEW, segments_of
from heldout.report.over_time.spent import spent_on
from heldout.report.over_time.text import difference, look_notes, looks_text, segments_text
from heldout.report.over_time.text import spent_text as bill
from heldout.review import Reviewer, accept, revert
from heldout.score.result import Breakdown
from heldout.settings import Settings
from heldout.store import Ledger, remember_brain

MODEL = "sim/anchored@low"
KIM = Reviewer("kim", "reads well")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A project with a brain of three lines and an empty set."""
    (tmp_path / "datasets" / "prod_hard").mkdir(parents=True)
    brain = Brain({"method.md": "# Method\n- Find the mechanism.\n- Stop there.\n"}, ("method.md",))
    (tmp_path / "brain").mkdir()
    write_brain(brain, tmp_path / "brain")
    return Settings(root=tmp_path)


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    """A ledger that knows the brain."""
    settings.state.mkdir()
    with Ledger.open(settings.ledger) as ledger:
        remember_brain(ledger, load_brain(settings.brain))
        ledger.flush()
        yield ledger


def edit(*ops: Op) -> Edit:
    """An edit of the method."""
    return Edit(ops, "it stops early", "stops early")


def propose(ledger: Ledger, name: str, before: Brain, edits: list[Edit]) -> Brain:
    """A proposal's row; returns the brain after."""
    after = apply_edits(before, edits)
    for one in (before, after):
        remember_brain(ledger, one)
    row = {
        "proposal": name, "job": "tune-1", "model": MODEL, "set": "prod_hard",
        "before_hash": before.hash, "after_hash": after.hash, "diff": diff(before, after),
        "diff_hash": diff_hash(before, after),
        "edits_json": [{"id": one.id, "edit": one.plain()} for one in edits], "evidence_json": {},
    }  # fmt: skip
    ledger.append("proposals", [row])
    ledger.flush()
    return after


def said(change: BrainChange | None) -> list[tuple[str, int, str, str]]:
    """Every line with its kind, number and origin's edit (or proposal, or nothing)."""
    assert change is not None
    return [
        (line.kind, line.number, line.text, line.origin.edit or line.origin.proposal)
        for line in change.lines
    ]


LATER = edit(Op("method.md", "insert_after", "- Find the mechanism.", "- Ask since when."))
ON = edit(Op("method.md", "replace", "- Stop there.", "- Go on to the change."))


def test_each_line_knows_the_edit_that_brought_it_or_took_it(settings: Settings, ledger: Ledger):
    """New and gone lines of an accepted proposal carry their own edit, not the proposal as one."""
    propose(ledger, "p-1", load_brain(settings.brain), [LATER, ON])
    accept(settings, ledger, "p-1", KIM)
    change = brain_change(ledger, settings)
    assert said(change) == [
        ("del", 3, "- Stop there.", ON.id),
        ("add", 3, "- Ask since when.", LATER.id),
        ("add", 4, "- Go on to the change.", ON.id),
    ]
    assert change is not None
    assert change.lines[1].origin.words() == f"edit {LATER.id} of p-1, accepted by kim"


def test_what_somebody_wrote_by_hand_is_nobodys_edit(settings: Settings, ledger: Ledger):
    """A line that no accepted proposal brought says so, also between two proposals."""
    propose(ledger, "p-1", load_brain(settings.brain), [LATER])
    accept(settings, ledger, "p-1", KIM)
    by_hand = load_brain(settings.brain)
    by_hand = by_hand.with_file("method.md", by_hand.files["method.md"] + "- By hand.\n")
    write_brain(by_hand, settings.brain)
    propose(ledger, "p-2", by_hand, [ON])
    accept(settings, ledger, "p-2", KIM)
    origins = {text: origin for kind, _, text, origin in said(brain_change(ledger, settings))}
    assert origins["- By hand."] == ""
    assert origins["- Ask since when."] == LATER.id
    assert origins["- Go on to the change."] == ON.id


def test_a_rejected_or_waiting_proposal_brings_nothing(settings: Settings, ledger: Ledger):
    """Only what was accepted and is in use is told."""
    propose(ledger, "p-1", load_brain(settings.brain), [LATER])
    assert said(brain_change(ledger, settings)) == []


def test_going_back_takes_the_lines_and_their_origin_with_it(settings: Settings, ledger: Ledger):
    """After a revert the earlier brain's lines have the origin that they had."""
    base = load_brain(settings.brain)
    middle = propose(ledger, "p-1", base, [LATER])
    accept(settings, ledger, "p-1", KIM)
    propose(ledger, "p-2", middle, [ON])
    accept(settings, ledger, "p-2", KIM)
    revert(settings, ledger, KIM, middle.hash)
    assert said(brain_change(ledger, settings)) == [("add", 3, "- Ask since when.", LATER.id)]
    revert(settings, ledger, KIM, base.hash)
    assert said(brain_change(ledger, settings)) == []


def test_part_of_a_proposal_and_an_amended_one(settings: Settings, ledger: Ledger):
    """Of a partly accepted proposal only those edits count; an amended one stands as a whole."""
    base = load_brain(settings.brain)
    propose(ledger, "p-1", base, [LATER, ON])
    after = apply_edits(base, [LATER])
    remember_brain(ledger, after)
    decided = {"only": [LATER.id[:6]], "after": after.hash, "commit": ""}
    ledger.append("decisions", [
        {"proposal": "p-1", "diff_hash": "x", "action": "accept", "edits_json": decided, "name": "k"}
    ])  # fmt: skip
    ledger.flush()
    amended = propose(ledger, "p-2", after, [ON])
    write_brain(amended, settings.brain)
    ledger.append("decisions", [
        {"proposal": "p-2", "diff_hash": "x", "action": "accept", "name": "k",
         "edits_json": {"only": ["none of them"], "after": amended.hash}}
    ])  # fmt: skip
    ledger.flush()
    assert said(brain_change(ledger, settings)) == [
        ("del", 3, "- Stop there.", "p-2"),
        ("add", 3, "- Ask since when.", LATER.id),
        ("add", 4, "- Go on to the change.", "p-2"),
    ]


def test_a_proposal_laid_on_another_models_overlay_answers_for_its_own_lines(
    settings: Settings, ledger: Ledger
):
    """Two models' proposals from the same brain, one accepted after the other: each keeps its own."""
    base = load_brain(settings.brain)
    mine = edit(Op("overlays/models/a/method.md", "append", "", "- Of a."))
    theirs = edit(Op("overlays/models/b/method.md", "append", "", "- Of b."))
    first, _ = propose(ledger, "p-a", base, [mine]), propose(ledger, "p-b", base, [theirs])
    both = apply_edits(first, [theirs])
    remember_brain(ledger, both)
    write_brain(both, settings.brain)
    for name, before, after in (("p-a", base, first), ("p-b", first, both)):
        led = {"only": [], "before": before.hash, "after": after.hash}
        ledger.append("decisions", [
            {"proposal": name, "diff_hash": "x", "action": "accept", "edits_json": led, "name": "k"}
        ])  # fmt: skip
        ledger.flush()
    origins = {text: origin for _, _, text, origin in said(brain_change(ledger, settings))}
    assert origins == {"- Of a.": mine.id, "- Of b.": theirs.id}


def test_a_brain_that_cannot_be_read_is_said(settings: Settings, ledger: Ledger):
    """A broken manifest costs this part of the report, not the report."""
    (settings.brain / "brain.toml").write_text("load = 3")
    change = brain_change(ledger, settings)
    assert change is not None
    assert "cannot be read" in change.note


def test_a_decision_whose_brains_are_lost_is_said(settings: Settings, ledger: Ledger):
    """A ledger that lacks a brain costs this part of the report, not the report."""
    row = {"model": MODEL, "before_hash": "b" * 64, "after_hash": "a" * 64, "diff": "x",
           "diff_hash": "d"}  # fmt: skip
    ledger.append("proposals", [{**row, "proposal": "p-1"}])
    ledger.append("decisions", [
        {"proposal": one, "diff_hash": "d", "action": "accept", "name": "k"} for one in ("p-0", "p-1")
    ])  # fmt: skip
    ledger.flush()
    change = brain_change(ledger, settings)
    assert change is not None
    assert "its past cannot be read" in change.note


def score_row(made: Any, nonce: str, **changes: Any) -> dict[str, Any]:
    """A score's row in the ledger."""
    return {
        "score": made.score, "model": made.model, "set": made.set, "started": 1,
        "before_hash": made.before_hash, "after_hash": made.after_hash,
        "endpoint_json": {"pins": {"nonce": nonce}, "traps": ["a", "b"]},
        "result_json": made.plain(), "outcome": made.outcome, "ended": 2, **changes,
    }  # fmt: skip


def run_row(run: str, nonce: str, usd: float | None) -> dict[str, list[dict[str, Any]]]:
    """A run of a score with one investigation."""
    manifest = {"pins": {"nonce": nonce}, "arms": [{"name": "before"}], "repeats": 1}
    return {
        "runs": [{"run": run, "purpose": "score", "model": MODEL, "manifest_json": manifest,
                  "cases_json": [], "started": 1}],
        "investigations": [
            {"run": run, "incident": "a", "arm": "before", "repeat": 0, "attempt": 0, "seed": 1,
             "reason": "", "calls": 2, "steps": 1, "input_tokens": 700, "cached_tokens": 0,
             "output_tokens": 300, "usd": usd, "seconds": 1.0, "started": 1, "ended": 2}
        ],
    }  # fmt: skip


@pytest.fixture
def looked(maker: Any, ledger: Ledger) -> Ledger:
    """Three looks: a finished one, one over other incidents, one that did not end."""
    made = maker()
    first = made.score(score="aaaa00001111")
    second = made.score(score="bbbb00001111", usd=None)
    ledger.append("scores", [
        score_row(first, "n1"),
        score_row(second, "n2", endpoint_json={"pins": {"nonce": "n2"}, "traps": ["a", "c"]}),
        score_row(first, "n3", score="cccc00001111", result_json=None, outcome=None, ended=None),
    ])  # fmt: skip
    for run, nonce, usd in (("r1", "n1", 0.5), ("r2", "n2", None), ("r3", "n3", 0.25)):
        ledger.append_group(run_row(run, nonce, usd))
    ledger.flush()
    return ledger


def test_looks_stand_in_order_with_their_word_class_and_cost(looked: Ledger):
    """Oldest first; each with what it cost alone, and one that did not end without figures."""
    looks = looks_at(looked, MODEL)
    assert [one.id[:4] for one in looks] == ["aaaa", "bbbb", "cccc"]
    assert [one.cost.total_usd for one in looks] == [0.5, None, 0.25]
    assert looks[0].word == "mechanism shown (mechanism test)"
    assert looks[0].floor is not None
    assert looks[0].floor.traps_solved == 3
    assert (looks[2].result, looks[2].word) == (None, "begun and not ended")
    text = looks_text(looks)
    assert "2 of 5" in text
    assert "unknown" in text
    assert "9/25, 36 % (20-55)" in text


def test_looks_over_other_incidents_are_said_not_to_compare(looked: Ledger):
    """A look that counted other incidents than the one before is named; the same ones are not."""
    looks = looks_at(looked, MODEL)
    assert [one.other_incidents for one in looks] == [False, True, False]
    notes = "\n".join(look_notes(looks))
    assert "bbbb00001111" in notes
    assert "cccc00001111" in notes
    same = tuple(replace(one, other_incidents=False) for one in looks[:1])
    assert "do not compare" not in "\n".join(look_notes(same))


def test_a_score_of_another_version_keeps_its_word_only(looked: Ledger):
    """What cannot be read any more is not guessed at."""
    looked.append("scores", [{
        "score": "dddd", "model": MODEL, "result_json": {"old": 1}, "outcome": "gain",
        "endpoint_json": {}, "started": 3, "ended": 4,
    }])  # fmt: skip
    looked.flush()
    last = looks_at(looked, MODEL)[-1]
    assert (last.result, last.word) == (None, "gain, written by another version")


def test_a_small_group_has_counts_and_no_rate(settings: Settings, maker: Any):
    """No percentage stands beside three incidents, and ten have one with its interval."""
    rows = (
        Breakdown("domain", "network", False, 3, 3, 1, 3, 2, 0),
        Breakdown("trap", "latent", True, FEW, FEW, 4, 9, 5, 0),
    )
    segments = segments_of(settings, maker().score(breakdown=rows))
    small, large = segments.rows[:2]
    assert (small.few, large.few) == (True, False)
    assert difference(small) == "few"
    assert difference(large).startswith("+50 points (")
    text = segments_text(segments)
    assert "1 of 3" in text
    assert "33 %" not in text
    assert "not in train" in text
    assert "a rate says nothing" in text


def test_difficulty_comes_from_the_sets_labels(settings: Settings, maker: Any):
    """Traps are grouped by how often the label's model solved them; what has no label is said."""
    score = maker(traps=12, controls=0).score()
    plain = segments_of(settings, score)
    assert not [row for row in plain.rows if row.kind == "difficulty"]
    assert any("no labels" in note for note in plain.notes)
    rates = {f"inc-{n:02}": 0.0 if n < 8 else 1.0 for n in range(11)}
    labels = Labels("sim/anchored", "a" * 64, 3, date(2026, 3, 1), ("r",), rates)
    write_labels(labels, settings.set_dir("prod_hard"))
    groups = {
        row.name: row.incidents
        for row in segments_of(settings, score).rows
        if row.kind == "difficulty"
    }
    assert groups == {"never solved": 8, "always solved": 3, "not labelled": 1}


def test_an_unknown_price_stays_unknown_in_the_bill(looked: Ledger):
    """The sum over a look without a price is unknown; tokens and investigations still add up."""
    spent = spent_on(looked, MODEL)
    assert [one.name for one in spent] == ["scoring the held-out half", "together"]
    assert (spent[-1].cost.investigations, spent[-1].cost.total_tokens) == (3, 3000)
    assert bill(spent).splitlines()[-1].split()[-1] == "unknown"
    assert spent_on(looked, "sim/none") == ()


def test_page_and_text_carry_every_part(settings: Settings, looked: Ledger):
    """The report of the newest score tells the looks, the brain's lines, segments and the bill."""
    hostile = edit(Op("method.md", "append", "", "- <script>alert(1)</script>\u202e ask"))
    propose(looked, "p-1", load_brain(settings.brain), [hostile])
    accept(settings, looked, "p-1", KIM)
    data = gather(looked, settings)
    page, text = render_html(data), render_text(data)
    for part in ("Over time", "What the brain says now", "By domain, trap and difficulty",
                 "cost so far", f"edit {hostile.id} of p-1, accepted by kim"):  # fmt: skip
        assert part in page, part
    assert "<script" not in page
    assert "\u202e" not in page + text
    assert "looks at the held-out half by sim/anchored@low" in text
    assert "1 lines new, 0 gone" in text
    assert render_html(data) == page


def test_the_canary_stands_in_page_and_text(settings: Settings, looked: Ledger):
    """What the provider changed is told with what a run could have noticed; hostile names as text."""
    said = Canary(
        run="r", model="sim/anchored@low", set="small", brain="b" * 64, at=1_790_000_000_000_000,
        number=2, begins="", word="changed", alarms=("another model answers: <b>new</b>",),
        notes=(), incidents=10, planned=30, valid=30, passed=12, earlier_valid=30,
        earlier_passed=24, p=0.001, noticeable=0.31, served=("<b>new</b>",), earlier_served=("m",),
        input_tokens=900.0, earlier_input_tokens=900.0, output_tokens=80.0,
        earlier_output_tokens=80.0, call_seconds=1.0, earlier_call_seconds=1.0, usd=None,
    )  # fmt: skip
    assert "Did the provider" not in render_html(gather(looked, settings))
    row = {"job": "canary-r", "kind": "canary", "status": "changed", "model": said.model,
           "detail_json": said.plain()}  # fmt: skip
    looked.append("jobs", [row])
    data = gather(looked, settings)
    page, text = render_html(data), render_text(data)
    for shown in (page, text):
        assert "40 %" in shown
        assert "moves by 31 points would be noticed" in shown
    assert "Did the provider change the model?" in page
    assert "changed; another model answers: &lt;b&gt;new&lt;/b&gt;" in page
    assert "<b>new" not in page
