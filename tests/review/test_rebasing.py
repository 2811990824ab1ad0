"""Proposals of several models in one brain: none is made stale by what another model reads."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from tests.review import tiny

from heldout.brain import APPEND, Brain, load_brain, write_brain
from heldout.edit import diff, diff_hash
from heldout.errors import GateRejected, UsageError
from heldout.gate.report import Finding, GateReport
from heldout.overlays import read_by
from heldout.pipeline.stages import _require_own_overlay
from heldout.pipeline.verbs import Scoring, _brains
from heldout.review import Reviewer, accept, project_status, release, revert, score_of
from heldout.settings import Settings
from heldout.store import Ledger, remember_brain
from heldout.store.queries import decisions

project, ledger = tiny.project, tiny.ledger
BEFORE = tiny.BEFORE
WHO = Reviewer("kim", "reads well")
ONE, TWO = "openai/one@low", "openai/two@low"
FILES = {
    ONE: "overlays/models/openai-one-low/method.md",
    TWO: "overlays/models/openai-two-low/method.md",
}


class Gate:
    """A gate in this process: refuses what it is told to, and remembers what it was asked."""

    refuse: ClassVar[bool] = False
    asked: ClassVar[list[tuple[str, str]]] = []

    def __init__(self, settings: Settings) -> None:
        """No process is begun."""

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held."""

    def check(self, before: Brain, after: Brain) -> GateReport:
        """One answer."""
        self.asked.append((before.hash, after.hash))
        found = (Finding("phrase", "reject", "method.md", 1, 1, 2, "x"),) if self.refuse else ()
        return GateReport(not found, found, 2, "7", "inv", "voc", "chk", 0.1)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> type[Gate]:
    """The gate that accepting asks."""
    monkeypatch.setattr("heldout.review.rebasing.GateProcess", Gate)
    monkeypatch.setattr(Gate, "asked", [])
    return Gate


def tuned(model: str) -> Brain:
    """The shared brain with one line for one model."""
    return BEFORE.with_file(FILES[model], f"{APPEND}\n\n- A line for {model}.\n")


def propose(ledger: Ledger, model: str, after: Brain) -> str:
    """Store a proposal that was measured on the shared brain."""
    name = f"p-{model[7:10]}"
    for brain in (BEFORE, after):
        remember_brain(ledger, brain)
    row: dict[str, Any] = {
        "proposal": name, "job": f"j-{name}", "model": model, "set": "tiny",
        "before_hash": BEFORE.hash, "after_hash": after.hash, "diff": diff(BEFORE, after),
        "diff_hash": diff_hash(BEFORE, after), "edits_json": [], "evidence_json": {},
    }  # fmt: skip
    ledger.append("proposals", [row])
    ledger.flush()
    return name


def test_two_models_proposals_do_not_stale_each_other(
    project: Settings, ledger: Ledger, gate: type[Gate]
):
    """Both were made from the same brain; each is accepted, and each model reads what it measured."""
    names = {model: propose(ledger, model, tuned(model)) for model in (ONE, TWO)}
    first = accept(project, ledger, names[ONE], WHO)
    assert gate.asked == []
    second = accept(project, ledger, names[TWO], WHO)
    both = load_brain(project.brain)
    assert (second.before, second.after) == (first.after, both.hash)
    assert gate.asked == [(first.after, both.hash)]
    for model in (ONE, TWO):
        assert read_by(both, model).hash == tuned(model).hash
    assert decisions(ledger, names[TWO])[0].edits == {
        "only": [], "before": first.after, "after": both.hash, "commit": "",
    }  # fmt: skip


def test_an_acceptance_that_died_before_its_row_is_finished(
    project: Settings, ledger: Ledger, gate: type[Gate]
):
    """The brain holds the change already, beside another model's overlay: only the row is added."""
    name = propose(ledger, TWO, tuned(TWO))
    both = tuned(ONE).with_file(FILES[TWO], tuned(TWO).extra[FILES[TWO]])
    write_brain(both, project.brain)
    done = accept(project, ledger, name, WHO)
    assert (done.before, done.after) == (tuned(ONE).hash, both.hash)


def test_a_shared_brain_that_moved_on_makes_an_overlay_stale(
    project: Settings, ledger: Ledger, gate: type[Gate]
):
    """The other model reads the shared files, so what was measured no longer holds."""
    shared = propose(ledger, ONE, BEFORE.with_file("method.md", "# Method\nLook twice.\n"))
    overlay = propose(ledger, TWO, tuned(TWO))
    accept(project, ledger, shared, WHO)
    with pytest.raises(UsageError, match=r"method\.md, which openai/two@low reads"):
        accept(project, ledger, overlay, WHO)
    assert FILES[TWO] not in load_brain(project.brain).extra


def test_the_gate_is_asked_about_the_two_together(
    project: Settings, ledger: Ledger, gate: type[Gate], monkeypatch: pytest.MonkeyPatch
):
    """A brain that nobody has gated as a whole is not written when the gate refuses it."""
    names = {model: propose(ledger, model, tuned(model)) for model in (ONE, TWO)}
    accept(project, ledger, names[ONE], WHO)
    monkeypatch.setattr(gate, "refuse", True)
    with pytest.raises(GateRejected):
        accept(project, ledger, names[TWO], WHO)
    assert load_brain(project.brain).hash == tuned(ONE).hash
    assert decisions(ledger, names[TWO]) == []


def test_a_score_outlives_another_models_overlay(
    project: Settings, ledger: Ledger, gate: type[Gate]
):
    """Scored and released for one model stays so when another model's overlay is accepted."""
    names = {model: propose(ledger, model, tuned(model)) for model in (ONE, TWO)}
    accept(project, ledger, names[ONE], WHO)
    row = {
        "score": "s-1", "model": ONE, "set": "tiny", "before_hash": BEFORE.hash,
        "after_hash": tuned(ONE).hash, "outcome": "gain", "ended": 1,
    }  # fmt: skip
    ledger.append("scores", [row])
    ledger.flush()
    release(project, ledger, WHO, model=ONE)
    accept(project, ledger, names[TWO], WHO)
    both = load_brain(project.brain)
    assert score_of(ledger, both, ONE) is not None
    assert score_of(ledger, both, TWO) is None
    lines = {line.model: line for line in project_status(project, ledger).models}
    assert (lines[ONE].brain_scored, lines[ONE].released) == (True, both.hash)
    assert _brains(project, ledger, Scoring(), ONE)[:2] == (BEFORE.hash, tuned(ONE).hash)
    assert _brains(project, ledger, Scoring(), TWO)[:2] == (tuned(ONE).hash, both.hash)


def test_going_back_for_one_model_keeps_the_others(
    project: Settings, ledger: Ledger, gate: type[Gate]
):
    """An overlay is taken back alone; without a model the whole brain goes back."""
    names = {model: propose(ledger, model, tuned(model)) for model in (ONE, TWO)}
    accept(project, ledger, names[ONE], WHO)
    both = accept(project, ledger, names[TWO], WHO).after
    revert(project, ledger, WHO, BEFORE.hash, model=ONE)
    assert load_brain(project.brain).hash == tuned(TWO).hash
    with pytest.raises(UsageError, match="in use already"):
        revert(project, ledger, WHO, BEFORE.hash, model=ONE)
    revert(project, ledger, WHO, both)
    revert(project, ledger, WHO, BEFORE.hash)
    assert load_brain(project.brain).hash == BEFORE.hash


def test_no_job_writes_into_another_models_overlay(ledger: Ledger):
    """A model whose overlay would be that of one tuned before is refused; itself is not."""
    row = {"job": "j", "kind": "tune", "status": "started", "model": ONE}
    ledger.append("jobs", [row])
    _require_own_overlay(ledger, ONE)
    with pytest.raises(UsageError, match="share one overlay"):
        _require_own_overlay(ledger, "openai/one-low")
