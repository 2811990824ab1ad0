"""The command line: one line per error, the right exit code, no traceback, nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heldout.terminal import ProgressLine, clean


def heldout(*words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh project with the empty set."""
    home = tmp_path_factory.mktemp("cli")
    assert heldout("init", "p", cwd=home).returncode == 0
    return home / "p"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nonesuch"], 2, "No such command"),
        (["tune", "--review", "maybe"], 2, "--review"),
        (["tune", "--repeats", "99"], 2, "--repeats"),
        (["tune", "--strategy", "magic"], 2, "'blind' or 'gepa'"),
        (["tune"], 2, "no incident to tune on"),
        (["run"], 2, "no such train incident"),
        (["run", "--set", "nonesuch"], 1, "Known sets: incidents"),
        (["review"], 1, "no ledger yet"),
        (["review", "--accept", "--reject"], 2, "more than one decision"),
        (["review", "--accept"], 2, "which proposal?"),
        (["review", "x", "--branch", "b"], 2, "go with --accept"),
        (["review", "x", "--serve", "--accept"], 2, "on its page"),
        (["review", "--serve"], 1, "no ledger yet"),
        (["review", "--comment"], 2, "which proposal"),
        (["report"], 2, ""),
        (["compare", "a", "b"], 2, "names no run"),
        (["revert", "abc", "--name", "k", "--reason", "r"], 1, "names no stored brain"),
        (["release", "--name", "k", "--reason", "r"], 2, "no score"),
        (["resume"], 2, "no job was stopped"),
        (["check", "nonesuch.patch"], 2, "no such file"),
        (["ingest", "kubernetes", "nonesuch"], 1, "nothing is there"),
        (["ingest", "spells", "."], 2, "Name one of: alerts"),
        (["ingest", "changes", ".", "--format", "runes"], 2, "cloudtrail, audit"),
        (["ingest", "logs", ".", "--now", "soon"], 2, "is no moment"),
        (["drift", "nonesuch"], 1, "there is no world"),
        (["health", "nonesuch"], 1, "nothing is there"),
        (["intake", "nonesuch.md"], 1, "nonesuch.md"),
        (["fidelity", "nonesuch.jsonl"], 1, "nonesuch.jsonl"),
        (["build", "--set", "nonesuch"], 1, "Known sets"),
        (["build", "--make", "../evil", "--traps", "2"], 2, "cannot name a set"),
        (["run", "--set", "../incidents"], 2, "cannot name a set"),
        (["run", "--model", "foo"], 2, "no such train incident"),
        (["init", "."], 2, "not empty"),
        (["status", "--project", "/nonesuch"], 1, "heldout init"),
    ],
)
def test_a_mistake_is_one_line_and_a_code(project: Path, words: list[str], code: int, said: str):
    """Each mistake ends with its exit code and a sentence; never with a traceback."""
    done = heldout(*words, cwd=project)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_wrong_settings_key_is_named(tmp_path: Path):
    """A key that does not exist is an error that names it, not a setting silently ignored."""
    (tmp_path / "heldout.toml").write_text("[score]\nlook = 3\n")
    done = heldout("status", cwd=tmp_path)
    assert done.returncode == 1
    assert "score.look" in done.stderr


def test_an_unforeseen_error_shows_no_traceback_unless_asked(project: Path):
    """What nobody foresaw is one line too; HELDOUT_TRACEBACK=1 shows the rest."""
    code = (
        "import heldout.settings as s\n"
        "def broken(*a): raise ZeroDivisionError('planted')\n"
        "s.load_settings = broken\n"
        "from heldout.cli.main import run; import sys; sys.argv = ['heldout', 'status']; run()"
    )
    for flag, shown in (("", False), ("1", True)):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False,
            env={**os.environ, "HELDOUT_TRACEBACK": flag},
        )  # fmt: skip
        assert done.returncode == 1
        assert "internal error (ZeroDivisionError: planted)" in done.stderr
        assert ("Traceback" in done.stderr) is shown


def test_help_loads_nothing_heavy(project: Path):
    """The help page imports none of the libraries that take a second to load."""
    code = (
        "import sys; sys.argv = ['heldout', '--help']\n"
        "from heldout.cli.main import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "heavy = {'prefect', 'dspy', 'openai', 'duckdb', 'numpy', 'matplotlib', 'litellm'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("[]")


def test_hostile_text_cannot_move_the_cursor():
    """Escapes, control characters and bidi overrides do not reach the terminal."""
    assert clean("a\x1b[2Jb\x1b]0;x\x07c\u202ed\re") == "ab0;xcde"
    assert clean("two\nlines\tkept") == "two\nlines\tkept"


def test_progress_is_plain_lines_off_a_terminal(tmp_path: Path):
    """In a file progress is whole lines without escapes, and quiet means silence."""
    path = tmp_path / "log"
    with path.open("w") as stream:
        line = ProgressLine(stream=stream)
        line("1/9", final=False)
        line("2/9")
        line("9/9", final=True)
        ProgressLine(stream=stream, quiet=True)("no", final=True)
    assert path.read_text() == "1/9\n9/9\n"
