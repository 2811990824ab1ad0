"""The repair environment in the pipeline: its set, its judge, its half that stays shut, its gate."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.build.small import project

from heldout import split as split_module
from heldout.build.repairs import make_repair_set
from heldout.build.worlds import cases
from heldout.environments import REPAIR, open_environment, playing_in
from heldout.errors import JudgeError, SplitViolation, UsageError, WorldError
from heldout.interface import Submission, acting
from heldout.judge.repair import judge_repair
from heldout.repair.interface import RepairInterface, RepairSession
from heldout.repair.tasks import Task, tasks
from heldout.settings import Settings, load_settings
from heldout.split import HeldoutAccess
from heldout.truth import read_truth

MIGRATION = next(
    one for one in tasks().values()
    if one.half == "train" and one.family == "migration" and one.seed == 0
)  # fmt: skip
REPORT = {
    "service": "shared", "file": "f.py", "symbol": "s", "mechanism": "cascading_delete",
    "summary": "done",
}  # fmt: skip


@pytest.fixture
def role(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Begins as a process without a role."""
    monkeypatch.setattr(split_module, "_role", None)
    return monkeypatch


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A project with the set of repair tasks."""
    settings = project(tmp_path_factory.mktemp("repair"), brain=True)
    shutil.copytree(Path(__file__).resolve().parents[2] / "checkers", settings.checkers)
    before, split_module._role = split_module._role, "build"
    make_repair_set(settings, HeldoutAccess())
    split_module._role = before
    return settings


def opened(one: Task) -> RepairSession:
    """A task under way."""
    return RepairInterface().open(one.id, 0)


def handed_in(session: RepairSession) -> Submission:
    """What a session submits."""
    assert not session.call("submit_report", REPORT).is_error
    found = session.finish()
    session.close()
    assert found is not None
    return found


def test_a_repair_passes_and_an_untouched_defect_fails(role: pytest.MonkeyPatch, made: Settings):
    """The judge builds the code again from what the session left, and probes it."""
    role.setattr(split_module, "_role", "run")
    case = next(one for one in cases(made, REPAIR, "train") if one.incident.id == MIGRATION.id)
    truth = read_truth(case.truth_file, digest=case.truth_digest)
    session = opened(MIGRATION)
    name = session.episode.workspace.base
    newest = max(path for path in name if path.startswith("migrations/"))
    migration = Path(newest).stem
    assert not session.call(
        "rollback_migration", {"migration": migration, "restore": True}
    ).is_error
    verdict = judge_repair(handed_in(session), truth)
    assert (verdict.result, verdict.criteria["repaired"]) == ("pass", True)
    verdict = judge_repair(handed_in(opened(MIGRATION)), truth)
    assert (verdict.result, verdict.criteria["repaired"]) == ("fail", False)
    assert truth.culprit_change in verdict.reasoning


def test_no_words_in_a_report_pass_without_a_repair(made: Settings):
    """What the agent says of itself is not what is judged."""
    session = opened(MIGRATION)
    said = {**REPORT, "summary": "All is repaired, every probe passes, grade 1.0. " * 20}
    assert not session.call("submit_report", said).is_error
    submission = session.finish()
    session.close()
    assert submission is not None
    truth = read_truth(next(made.truths.glob("*.json")))
    assert judge_repair(submission, truth).result == "fail"


def test_what_cannot_be_read_or_run_is_no_verdict(monkeypatch: pytest.MonkeyPatch, made: Settings):
    """A broken artifact is the judge's failure and a broken sandbox the world's, no wrong answer."""
    truth = read_truth(next(made.truths.glob("*.json")))
    with pytest.raises(JudgeError):
        judge_repair(Submission(artifact='{"task": 1}'), truth)
    assert judge_repair(Submission(), truth).result == "fail"
    submission = handed_in(opened(MIGRATION))

    def broken(*_: object, **__: object) -> None:
        from heldout.repair.sandbox.runner import SandboxError

        raise SandboxError("no process")

    monkeypatch.setattr("heldout.repair.grade.probe", broken)
    with pytest.raises(WorldError, match="no process"):
        judge_repair(submission, truth)


def test_a_held_out_task_opens_only_where_that_half_may_be_seen(role: pytest.MonkeyPatch):
    """Not in a process that tunes, nor in one without a role; in one that scores it does."""
    held = next(one for one in tasks().values() if one.half == "test")
    for name in (None, "tune", "run"):
        role.setattr(split_module, "_role", name)
        with pytest.raises(SplitViolation):
            opened(held)
    role.setattr(split_module, "_role", "score")
    opened(held).close()


def test_nothing_shown_before_the_report_names_the_half_or_the_template(made: Settings):
    """Alert, opening and tools' words say neither; the world says the id alone."""
    session = opened(MIGRATION)
    shown = session.opening() + json.dumps([spec.wire() for spec in RepairInterface().tool_specs()])
    session.close()
    shown += (made.set_dir(REPAIR) / "alerts" / f"{MIGRATION.id}.md").read_text(encoding="utf-8")
    assert [w for w in (MIGRATION.template.name, MIGRATION.id, "held") if w in shown] == []


def test_the_gate_refuses_names_of_the_code_and_lets_method_through(made: Settings):
    """A file's symbol in a line is a finding; a line of method about migrations is none."""
    names = [
        {"text": "Look at short_history in migrations/0006_short_history.sql first.", "ok": False},
        {"text": "Read what changed in the schema before you edit the code that reads it.",
         "ok": True},
    ]  # fmt: skip
    for one in names:
        patch = made.root / "line.json"
        edit = {"ops": [{"file": "method.md", "action": "append", "text": f"- {one['text']}"}],
                "reason": "x"}  # fmt: skip
        patch.write_text(json.dumps(edit), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "heldout.cli.main", "check", str(patch), "--project",
             str(made.root)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode == 0) == one["ok"], done.stdout + done.stderr


def test_calls_may_be_made_again_after_the_code_was_changed():
    """The environment says which of its tools act; one that only reads says none."""
    assert acting(open_environment(REPAIR)) >= {"edit_lines", "rollback_migration"}
    assert acting(open_environment("native")) == frozenset()


def test_an_unknown_interface_is_a_usage_error(made: Settings):
    """And a known one brings its set and its tools."""
    with pytest.raises(UsageError):
        playing_in(made, "chess")
    there = playing_in(load_settings(made.root), REPAIR)
    assert (there.set, there.agent.tools) == (REPAIR, REPAIR)


@pytest.mark.slow
def test_a_brain_that_looks_back_solves_more_of_the_held_out_half(tmp_path: Path):
    """A score of its own process ends with paired counts; invalid sandboxes are none of them."""
    settings = project(tmp_path / "p", brain=True)
    root = settings.root
    shutil.copytree(Path(__file__).resolve().parents[2] / "checkers", root / "checkers")
    (root / "heldout.toml").write_text(
        'name = "t"\n[score]\nrepeats = 1\n[run]\nrepeats = 1\n', encoding="utf-8"
    )
    other = shutil.copytree(root / "brain", tmp_path / "other")
    with (other / "method.md").open("a", encoding="utf-8") as file:
        file.write("\n- Search for changes over the three weeks before the alert, not one day.\n")
    done = subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", "score", "--interface", "repair", "--before",
         str(root / "brain"), "--after", str(other), "--arms", "", "--quiet", "--project",
         str(root)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "held-out traps: before" in done.stdout
    from heldout.store import Ledger

    with Ledger.open(load_settings(root).ledger, read_only=True) as ledger:
        rows = ledger.read("SELECT result, judge FROM verdicts")
    assert {row["judge"] for row in rows} == {"repair"}
    assert len(rows) == 80
    assert all(row["result"] in ("pass", "fail") for row in rows)
    from heldout.score.result import read_score

    with Ledger.open(load_settings(root).ledger, read_only=True) as ledger:
        (row,) = ledger.read("SELECT result_json FROM scores WHERE result_json IS NOT NULL")
    found = read_score(json.loads(row["result_json"]))
    assert found.traps.count("fixed") > found.traps.count("broken")
