"""The gate as a child process: redaction, alarms, and every way to fail closed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heldout.brain import Brain, write_brain
from heldout.edit import diff
from heldout.errors import BrainError, EditError, GateError
from heldout.gate import GateProcess, check_brain, check_patch, render
from heldout.gate.report import (
    HELD_OUT,
    HELD_OUT_HINT,
    LEAKED,
    GateReport,
    report_from_plain,
)
from heldout.gate.rules import advice
from heldout.settings import Settings

MakeBrain = Callable[..., Brain]


@pytest.fixture(scope="module")
def gate(project: Settings) -> Iterator[GateProcess]:
    """One warm child for the module."""
    with GateProcess(project) as process:
        process.wait_ready()
        yield process


def test_a_warm_child_checks_again_and_again(gate: GateProcess, make_brain: MakeBrain, method: str):
    """The child answers many checks with one inventory, and tells good edits from bad."""
    before = make_brain(method)
    pid = gate.pid
    good = gate.check(before, before.with_file("method.md", method + "- Look further back.\n"))
    bad = gate.check(before, before.with_file("method.md", method + "- Blame kestrovan.\n"))
    assert (good.passed, bad.passed) == (True, False)
    assert gate.pid == pid
    assert good.inventory_hash == bad.inventory_hash != ""
    assert len({good.vocabulary_hash, good.checkers_hash, good.inventory_hash}) == 3
    assert good.incidents == 3
    assert not bad.test_side_only
    assert report_from_plain(bad.plain()) == bad


@pytest.mark.parametrize(
    "line",
    ["- Blame dromblivet.", "- Blame the `cactus-violin` pods.", "- Blame tibor.ossendrijver.",
     "- Uploads whose turnstile tokens expired halfway through slow uploads.",
     "- Blame plumbrook-relay.", "- Blame c-02aa0002."],
)  # fmt: skip
def test_what_only_the_held_out_half_holds_is_redacted_and_alarms(
    gate: GateProcess, make_brain: MakeBrain, method: str, line: str
):
    """A hit on the test side alone names no incident and tells the caller to end its job."""
    before = make_brain(method)
    report = gate.check(before, before.with_file("method.md", method + line + "\n"))
    assert not report.passed
    assert report.test_side_only
    held = [f for f in report.rejects if f.incident == HELD_OUT]
    assert held
    for finding in held:
        assert (finding.identifier, finding.identifier_type) == ("", HELD_OUT)
        assert finding.hint == HELD_OUT_HINT
        assert finding.matched in line
    assert LEAKED in render(report)
    text = render(report) + repr(report.plain())
    for secret in ("inc-b2d4418e", "inc-c0ffee12", "dromblivet-meter", "turnstile_grace_window"):
        assert secret not in text


def test_a_common_value_of_the_held_out_half_rejects_without_alarm(
    gate: GateProcess, make_brain: MakeBrain, method: str
):
    """What anybody may write by chance refuses the edit and does not end the job."""
    before = make_brain(method)
    report = gate.check(before, before.with_file("method.md", method + "- Wait 41 seconds.\n"))
    assert not report.passed
    assert not report.test_side_only
    assert LEAKED not in render(report)
    assert report.rejects[0].incident == HELD_OUT


def test_the_advice_is_one_sentence_a_rule_whatever_was_hit(
    gate: GateProcess, make_brain: MakeBrain, method: str
):
    """An author who probes the gate hears the same of both halves, and of every name."""
    before = make_brain(method)
    told: dict[str, set[str]] = {}
    for line in ("Wait 41 seconds.", "Wait 3170 ms.", "Blame kestrovan.", "Blame dromblivet.",
                 "Blame kestrovn-ledger.", "Blame dromblivt-meter.", "It began at 14:05."):  # fmt: skip
        report = gate.check(before, before.with_file("method.md", f"{method}- {line}\n"))
        assert report.rejects
        for finding in report.rejects:
            told.setdefault(finding.rule, set()).add(advice(finding.rule, finding.hint))
    assert {rule: len(words) for rule, words in told.items()} == dict.fromkeys(told, 1)
    assert {"incident-value", "incident-identifier", "similar-identifier", "shape"} <= set(told)
    assert advice("no-shouting", "Speak softly") == "Speak softly"


def test_train_and_test_reports_are_worded_apart_only_by_redaction(
    gate: GateProcess, make_brain: MakeBrain, method: str
):
    """A name on the train side is named with its incident, so that the proposer can mend it."""
    before = make_brain(method)
    report = gate.check(before, before.with_file("method.md", method + "- Blame kestrovan.\n"))
    assert report.rejects[0].incident == "small/inc-7f3a90c1"
    assert "small/inc-7f3a90c1" in render(report)


def test_a_line_of_ten_megabytes_comes_back_as_a_rejection(
    gate: GateProcess, make_brain: MakeBrain, method: str
):
    """A huge edit passes through the pipes and is refused within the time limit."""
    before = make_brain(method)
    report = gate.check(before, before.with_file("method.md", method + "x" * 10_000_000))
    assert [finding.rule for finding in report.rejects] == ["edit-size"]


def test_a_child_killed_before_a_check_is_an_error_and_the_next_check_starts_another(
    project: Settings, make_brain: MakeBrain, method: str
):
    """Death closes the gate for the check at hand; the gate recovers afterwards."""
    brain = make_brain(method)
    with GateProcess(project) as gate:
        gate.wait_ready()
        assert gate.pid
        os.kill(gate.pid, signal.SIGKILL)
        time.sleep(0.1)
        with pytest.raises(GateError, match="ended"):
            gate.check(brain, brain)
        assert gate.check(brain, brain).passed


def _fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str) -> None:
    """Replace the interpreter by a script that behaves as told."""
    script = tmp_path / "python"
    script.write_text(f"#!{sys.executable}\nimport sys, time, os\n{body}\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr("heldout.gate.process.sys.executable", str(script))


READY = "print('{\"ready\": true}', flush=True)\n"


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ("print('garbage', flush=True); time.sleep(5)", "not JSON"),
        ("print('[1]', flush=True); time.sleep(5)", "not JSON"),
        ("print('{\"ready\": 1}', flush=True); time.sleep(5)", "something else"),
        ("sys.exit(0)", "ended"),
        ("time.sleep(30)", "within 1 s"),
        (READY + "time.sleep(30)", "within 1 s"),
        (READY + "sys.stdin.readline(); os.kill(os.getpid(), 9)", "ended"),
        (READY + 'sys.stdin.readline(); print(\'{"id": 1, "rep\', flush=True)', "not JSON"),
        (
            READY + "sys.stdin.readline(); print('{\"id\": 9}', flush=True); time.sleep(5)",
            "another",
        ),
        (
            READY + "sys.stdin.readline(); print('{\"id\": 1}', flush=True); time.sleep(5)",
            "be read",
        ),
        (
            READY + "sys.stdin.readline(); "
            'print(\'{"id": 1, "report": {"passed": true}}\', flush=True); time.sleep(5)',
            "be read",
        ),
    ],
)
def test_whatever_keeps_the_child_from_answering_is_an_error(
    project: Settings,
    make_brain: MakeBrain,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    body: str,
    match: str,
):
    """Garbage, silence, death in the middle, a wrong or partial answer: never a pass."""
    _fake(monkeypatch, tmp_path, body)
    brain = make_brain("# Method\n")
    with (
        GateProcess(project, start_seconds=1, check_seconds=1) as gate,
        pytest.raises(GateError, match=match),
    ):
        gate.check(brain, brain)


def test_a_report_that_contradicts_itself_is_not_believed(gate: GateProcess, make_brain: MakeBrain):
    """A verdict of 'passed' beside a rejecting finding is garbage."""
    brain = make_brain("# Method\n")
    plain = gate.check(brain, brain.with_file("method.md", "- Blame kestrovan.\n")).plain()
    with pytest.raises(ValueError, match="disagree"):
        report_from_plain({**plain, "passed": True})


def test_an_unreadable_world_closes_the_gate(own_project: Settings, make_brain: MakeBrain):
    """The child's reason reaches the caller as a GateError that says how to mend it."""
    world = next(own_project.worlds.iterdir())
    (world / "manifest.json").write_text("{", encoding="utf-8")
    brain = make_brain("# Method\n")
    with GateProcess(own_project) as gate, pytest.raises(GateError, match="heldout build"):
        gate.check(brain, brain)


def test_a_checker_that_fails_later_closes_the_gate(own_project: Settings, make_brain: MakeBrain):
    """A checker that raises on some text refuses that text by an error."""
    path = own_project.checkers / "edit_size.py"
    path.write_text(
        path.read_text().replace(
            "    return form", "    assert 'crash' not in str(context.brain)\n    return form"
        ),
        encoding="utf-8",
    )
    brain = make_brain("# Method\n")
    with GateProcess(own_project) as gate:
        assert gate.check(brain, brain).passed
        with pytest.raises(GateError, match="edit_size"):
            gate.check(brain, brain.with_file("method.md", "# Method\n\n- A crash course.\n"))
        assert gate.check(brain, brain).passed


def test_a_brain_folder_is_checked_with_and_without_a_base(
    project: Settings, make_brain: MakeBrain, method: str, tmp_path: Path
):
    """Without a base everything in a brain counts as new; with one only what differs."""
    brain = make_brain(method + "- We run kestrovan-ledger.\n")
    write_brain(brain, tmp_path / "brain")
    report = check_brain(project, tmp_path / "brain")
    assert not report.passed
    assert f"method.md:{method.count(chr(10)) + 1}:" in render(report)
    report = check_brain(project, tmp_path / "brain", base=brain)
    assert (report.passed, report.preexisting) == (True, 1)


def test_a_patch_is_checked_against_its_brain(
    project: Settings, make_brain: MakeBrain, method: str, tmp_path: Path
):
    """A unified diff and an edit as JSON are applied and checked; a stale one does not apply."""
    before = make_brain(method)
    write_brain(before, tmp_path / "brain")
    patch = tmp_path / "edit.patch"
    patch.write_text(diff(before, before.with_file("method.md", method + "- Blame kestrovan.\n")))
    assert not check_patch(project, patch, tmp_path / "brain").passed
    edit = tmp_path / "edit.json"
    edit.write_text(
        '{"ops": [{"file": "method.md", "action": "append", "text": "- Look further back."}]}'
    )
    assert check_patch(project, edit, tmp_path / "brain").passed
    write_brain(make_brain("# Another brain\n"), tmp_path / "brain")
    with pytest.raises(EditError):
        check_patch(project, patch, tmp_path / "brain")


def test_a_brain_that_is_not_utf8_is_refused(project: Settings, tmp_path: Path):
    """A file that cannot be read is an error before anything is checked."""
    (tmp_path / "brain.toml").write_text('load = ["method.md"]', encoding="utf-8")
    (tmp_path / "method.md").write_bytes(b"\xff\xfe caf\xe9")
    with pytest.raises(BrainError, match="UTF-8"):
        check_brain(project, tmp_path)


def test_the_text_report_cannot_move_the_cursor(gate: GateProcess, make_brain: MakeBrain):
    """Escape sequences of an edit are shown, not obeyed."""
    brain = make_brain("# Method\n")
    after = brain.with_file("method.md", "# Method\n\n- Blame \x1b[31mkestrovan\x1b[0m-ledger.\n")
    report: GateReport = gate.check(brain, after)
    assert "\x1b" not in render(report)
    assert not report.passed
