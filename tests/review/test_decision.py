"""A decision is bound to the exact diff; accepting writes the brain and one row, nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.review import tiny

from heldout.brain import Brain, load_brain, write_brain
from heldout.edit import Edit, Op, apply_edits, diff, diff_hash
from heldout.errors import UsageError
from heldout.review import (
    Reviewer,
    accept,
    project_status,
    reject,
    release,
    revert,
)
from heldout.settings import Settings
from heldout.store import Ledger, remember_brain
from heldout.store.queries import decisions, proposals, releases

project, ledger = tiny.project, tiny.ledger
BEFORE = tiny.BEFORE
EDITS = (
    Edit((Op("method.md", "append", text="Ask when the value became what it is."),), "origin"),
    Edit((Op("method.md", "append", text="Read the diff before naming a change."),), "diff"),
)
WHO = Reviewer("kim", "reads well")


def propose(ledger: Ledger, *, spoil: bool = False) -> str:
    """Store a proposal of both edits."""
    after = apply_edits(BEFORE, EDITS)
    for brain in (BEFORE, after):
        remember_brain(ledger, brain)
    text = diff(BEFORE, after)
    ledger.append(
        "proposals",
        [
            {
                "proposal": "p-1234",
                "job": "j-1",
                "model": "sim/anchored@low",
                "set": "tiny",
                "before_hash": BEFORE.hash,
                "after_hash": after.hash,
                "diff": text + ("+one more line\n" if spoil else ""),
                "diff_hash": diff_hash(BEFORE, after),
                "edits_json": [{"edit": edit.plain(), "fixed": 3, "broken": 0} for edit in EDITS],
                "evidence_json": {},
            }
        ],
    )
    ledger.flush()
    return "p-1234"


def tree(root: Path) -> dict[str, str]:
    """Every file below a folder but the ledger, with its text."""
    return {
        p.relative_to(root).as_posix(): p.read_text()
        for p in sorted(root.rglob("*"))
        if p.is_file() and ".heldout" not in p.parts and ".git" not in p.parts
    }


def test_accepting_writes_the_brain_and_nothing_else(project: Settings, ledger: Ledger):
    """After an acceptance only brain files differ, and they are the proposed brain."""
    name = propose(ledger)
    before = tree(project.root)
    done = accept(project, ledger, name, WHO)
    after = tree(project.root)
    assert load_brain(project.brain).hash == done.after == apply_edits(BEFORE, EDITS).hash
    assert {k for k in after if after[k] != before.get(k)} == {"brain/method.md"}
    assert decisions(ledger, name)[0].name == "kim"
    assert proposals(ledger, waiting=True) == []


def test_a_changed_diff_is_refused(project: Settings, ledger: Ledger):
    """A diff that is not the one that was hashed cannot be accepted or rejected."""
    name = propose(ledger, spoil=True)
    with pytest.raises(UsageError, match="not the one"):
        accept(project, ledger, name, WHO)
    with pytest.raises(UsageError, match="not the one"):
        reject(ledger, name, WHO)
    assert load_brain(project.brain).hash == BEFORE.hash


def test_a_brain_that_moved_on_is_not_overwritten(project: Settings, ledger: Ledger):
    """Accepting over a brain that somebody changed since would lose their work."""
    name = propose(ledger)
    write_brain(BEFORE.with_file("method.md", "# Mine\n"), project.brain)
    with pytest.raises(UsageError, match="has changed"):
        accept(project, ledger, name, WHO)
    assert load_brain(project.brain).files["method.md"] == "# Mine\n"


def test_a_decision_is_final_and_needs_a_name(project: Settings, ledger: Ledger):
    """A second decision is refused, and so is one without a name or a reason."""
    name = propose(ledger)
    reject(ledger, name, WHO)
    with pytest.raises(UsageError, match="already decided: reject by kim"):
        accept(project, ledger, name, WHO)
    with pytest.raises(UsageError, match="name and a reason"):
        Reviewer("kim", " ")


def test_accepting_again_after_a_crash_adds_the_row(project: Settings, ledger: Ledger):
    """Files written and no row, as after a crash, is mended by accepting again."""
    name = propose(ledger)
    write_brain(apply_edits(BEFORE, EDITS), project.brain)
    accept(project, ledger, name, WHO)
    assert len(decisions(ledger, name)) == 1


def test_single_edits_pass_the_gate_first(
    project: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
):
    """Part of a proposal is gated before it is written; the chosen edit alone is in the brain."""
    seen: list[tuple[str, str]] = []

    class Gate:
        def __init__(self, settings: Settings) -> None:
            assert settings.root == project.root

        def __enter__(self) -> Gate:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def check(self, before: Brain, after: Brain) -> object:
            seen.append((before.hash, after.hash))
            return type("Report", (), {"passed": True})()

    monkeypatch.setattr("heldout.review.decision.GateProcess", Gate)
    done = accept(project, ledger, propose(ledger), WHO, only=[EDITS[1].id[:6]])
    text = load_brain(project.brain).files["method.md"]
    assert "Read the diff" in text
    assert "became what it is" not in text
    assert seen == [(BEFORE.hash, done.after)]


def test_an_unknown_edit_is_named(project: Settings, ledger: Ledger):
    """Choosing an edit that the proposal does not have changes nothing."""
    with pytest.raises(UsageError, match="names no edit"):
        accept(project, ledger, propose(ledger), WHO, only=["zzzz"])
    assert load_brain(project.brain).hash == BEFORE.hash


def test_a_branch_leaves_the_working_tree_alone(project: Settings, ledger: Ledger):
    """With --branch the brain is committed on a branch, and the files in use stay."""

    def git(*words: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=project.root, capture_output=True, text=True, check=True
        )
        return done.stdout

    git("init", "-q")
    git("config", "user.name", "t")
    git("config", "user.email", "t@example.com")
    (project.root / ".gitignore").write_text(".heldout/\n")
    git("add", "-A")
    git("commit", "-qm", "start")
    done = accept(project, ledger, propose(ledger), WHO, branch="brain/monday")
    assert load_brain(project.brain).hash == BEFORE.hash
    assert done.commit in git("rev-parse", "brain/monday")
    assert "became what it is" in git("show", "brain/monday:brain/method.md")
    assert git("status", "--porcelain") == ""


def test_release_needs_a_score_without_harm(project: Settings, ledger: Ledger):
    """A brain without a score, or with harm, is released only by force, with the reason kept."""
    model = "sim/anchored@low"
    with pytest.raises(UsageError, match="no score"):
        release(project, ledger, WHO, model=model)
    for outcome, ended in (("harm", 1), ("mechanism shown", 2)):
        ledger.append(
            "scores",
            [
                {
                    "score": f"s-{ended}", "model": model, "after_hash": BEFORE.hash,
                    "outcome": outcome, "started": ended, "ended": ended,
                }
            ],
        )  # fmt: skip
        ledger.flush()
        if outcome == "harm":
            with pytest.raises(UsageError, match="harm"):
                release(project, ledger, WHO, model=model)
    assert release(project, ledger, WHO, model=model).outcome == "mechanism shown"
    assert releases(ledger, model=model)[0].brain_hash == BEFORE.hash


def test_revert_puts_the_old_brain_back_and_can_be_undone(project: Settings, ledger: Ledger):
    """After a revert the files are the old brain; the one left behind can be put back too."""
    after = accept(project, ledger, propose(ledger), WHO).after
    revert(project, ledger, WHO, BEFORE.hash[:10])
    assert load_brain(project.brain).hash == BEFORE.hash
    revert(project, ledger, WHO, after[:10])
    assert load_brain(project.brain).hash == after
    with pytest.raises(UsageError, match="in use already"):
        revert(project, ledger, WHO, after)


def test_status_says_what_waits_and_what_is_left(project: Settings, ledger: Ledger):
    """The status counts waiting proposals and the looks that are left per model."""
    propose(ledger)
    ledger.append("looks", [{"score": "s", "incident": "inc-bbbb", "model": "sim/anchored@low"}])
    ledger.append(
        "jobs", [{"job": "j-1", "kind": "tune", "status": "proposed", "model": "sim/anchored@low"}]
    )
    line = project_status(project, ledger).models[0]
    assert line.waiting == ("p-1234",)
    assert line.looks_left == project.score.looks - 1
    assert not line.brain_scored
    assert project_status(project, None).models == ()
