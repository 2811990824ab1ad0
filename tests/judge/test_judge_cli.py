"""``heldout judge`` as a person types it, in a project of its own, with models at a real server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from judge_server import JudgeServer, all_hold
from judge_stubs import Interface
from run_stubs import ScriptedClient, case, plan_of

from heldout.run import play
from heldout.settings import load_settings
from heldout.store import Ledger
from heldout.store.judging import calibrations


def heldout(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=cwd,
        env={**os.environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project without incidents."""
    (tmp_path / "heldout.toml").write_text('name = "p"\n')
    return tmp_path


def test_a_run_is_judged_again_overridden_and_compared(project: Path, server: JudgeServer):
    """The three verbs one after the other, on one stored run."""
    settings = load_settings(project)
    with Ledger.open(settings.ledger) as ledger:
        one = plan_of([case(project, "i0"), case(project, "i1", "wrong")], repeats=1)
        run = asyncio.run(
            play(one, ledger, settings, interface=Interface(),
                 client_factory=lambda _: ScriptedClient())
        ).run  # fmt: skip
    server.think = lambda seen: all_hold(seen, yes=False)
    llm = ("--model", "lab/judge", "--base-url", server.url)
    again = heldout("judge", "again", run[:8], *llm, "--quiet", cwd=project)
    assert again.returncode == 0, again.stderr
    assert "NOT CALIBRATED" in again.stdout
    assert "first verdicts (the run's figures): 2 passed, 2 failed" in again.stdout
    assert "i0 before repeat 0: pass, now fail" in again.stdout
    word = ("--result", "pass", "--name", "kim", "--reason", "I say so", "--arm", "before")
    mine = heldout("judge", "override", run, "i0", *word, cwd=project)
    assert "i0 before repeat 0: fail, now also pass" in mine.stdout, mine.stderr
    both = heldout("judge", "agreement", run, cwd=project)
    assert "llm and person: agree on 0 of 1" in both.stdout, both.stderr


def test_calibrating_prints_and_keeps(project: Path, server: JudgeServer):
    """Figures by class on standard output, a row in the ledger; a team's file is named."""
    exact = heldout("judge", "calibrate", "--by", "exact", cwd=project)
    assert exact.returncode == 0, exact.stderr
    assert "hedged list" in exact.stdout
    labels = project / "ours.jsonl"
    labels.write_text(
        '{"incident": "cal-01", "entity": "e-ca0100e1", "change": "c-ca0100c1", '
        '"mechanism": "The pool ran out.", "result": "pass"}\n'
    )
    llm = ("--model", "lab/judge", "--base-url", server.url, "--labels", str(labels))
    done = heldout("judge", "calibrate", *llm, cwd=project)
    assert "judge llm (lab/judge) on 1 labelled answers (ours.jsonl)" in done.stdout, done.stderr
    with Ledger.open(load_settings(project).ledger, read_only=True) as ledger:
        assert [row.labels for row in calibrations(ledger)] == ["ours.jsonl", "built-in"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("calibrate", "--by", "llm"), 2, "no judging model is named"),
        (("calibrate", "--by", "oracle"), 2, "no judge 'oracle'"),
        (("calibrate", "--by", "exact", "--model", "lab/x"), 2, "asks no model"),
        (("calibrate", "--model", "sim/anchored"), 2, "cannot judge"),
        (("calibrate", "--labels", "nonesuch"), 2, "cannot be read"),
        (("agreement", "x"), 1, "no ledger yet"),
    ],
)
def test_words_that_do_not_fit(project: Path, words: tuple[str, ...], code: int, said: str):
    """One line and the right exit code; no traceback."""
    done = heldout("judge", *words, cwd=project)
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
