"""``heldout run --workers``, ``--shards`` and ``heldout work`` on real incidents, as a user types them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from run_cut import heldout, make

from heldout.run import outcomes
from heldout.store import Ledger, queries

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "datasets" / "demo"
REPEATS = 3


def rows(project: Path, run: str) -> list[Any]:
    """Everything of a run but its times."""
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        found = []
        for one in outcomes(ledger, run):
            assert one.trace is not None
            steps = [replace(step, seconds=0.0) for step in one.trace.steps]
            key = (one.incident, one.arm, one.repeat, one.attempt, one.reason, one.verdict)
            found.append((key, steps, one.trace.messages, one.trace.submission, one.trace.usd))
        assert queries.run(ledger, run).status == "finished"
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, list[Any]]:
    """A project, its run in one process, and the run's rows."""
    home = make(tmp_path_factory.mktemp("workers") / "alone", 2)
    run = heldout(home, "run", "--repeats", str(REPEATS), "--quiet").split()[1]
    return home, run, rows(home, run)


@pytest.fixture
def other(alone: tuple[Path, str, list[Any]], tmp_path: Path) -> Path:
    """The same project with the same worlds and no ledger."""
    home = tmp_path / "other"
    ignored = shutil.ignore_patterns("ledger*", "landing", "journal", "share")
    shutil.copytree(alone[0], home, ignore=ignored)
    return home


def test_three_worker_processes_leave_the_rows_of_one(
    alone: tuple[Path, str, list[Any]], other: Path
):
    """The same run id, the same rows, the same figures; nothing lies about afterwards."""
    _, run, expected = alone
    said = heldout(other, "run", "--repeats", str(REPEATS), "--workers", "3", "--quiet")
    assert said.split()[1] == run
    assert "coverage 100%: 6 of 6 valid" in said
    assert rows(other, run) == expected
    assert list((other / ".heldout" / "share").rglob("*")) == []


def test_shards_are_played_elsewhere_and_gathered(
    alone: tuple[Path, str, list[Any]], other: Path, tmp_path: Path
):
    """Cut here, one shard played by another checkout, one never: named, then taken over."""
    home, run, expected = alone
    share = tmp_path / "shared"
    cut = ("run", "--repeats", str(REPEATS), "--shards", "2", "--share", str(share))
    said = heldout(other, *cut)
    assert f"heldout work {run[:8]} --shard 1/2 --share {share}" in said
    assert f"heldout resume {run[:8]}" in said
    played = heldout(home, "work", "--shard", "1/2", "--share", str(share), "--quiet")
    assert f"shard 1/2 of run {run}: 3 of 3 finished" in played
    with Ledger.open(other / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        assert queries.investigations(ledger, run) == []
    assert "shard 2/2 was not begun" in heldout(other, "resume", code=2)
    assert "was not begun" in heldout(other, *cut, code=2), "it is not cut again meanwhile"
    done = heldout(other, "resume", run[:8], "--take-over", "--quiet")
    assert "taken over here: shard 2/2 was not begun" in done
    assert rows(other, run) == expected
    gone = heldout(home, "work", "--shard", "2/2", "--share", str(share), code=2)
    assert "which run is meant" in gone


def test_options_that_do_not_go_together(other: Path):
    """What cannot be meant is a usage error that says what can."""
    assert "--workers alone" in heldout(other, "run", "--shards", "2", "--workers", "2", code=2)
    assert "--shards with --share" in heldout(other, "run", "--share", "x", code=2)
    assert "is no shard" in heldout(other, "work", "--shard", "5", code=2)
    assert "need the run" in heldout(other, "resume", "--take-over", code=2)


def test_a_worker_that_cannot_play_is_told_of(other: Path, alone: tuple[Path, str, list[Any]]):
    """When its workers fail, the command says why and plays their shards itself."""
    _, run, expected = alone
    share = other / ".heldout" / "share"
    share.mkdir()
    blocked = share / run
    blocked.mkdir()
    hook = other / "sitecustomize.py"
    hook.write_text(
        "import os, sys\nif 'work' in sys.orig_argv:\n"
        "    sys.stderr.write('error: no such luck\\n')\n    sys.stderr.flush()\n    os._exit(1)\n"
    )
    words = ("run", "--workers", "2", "--repeats", str(REPEATS), "--quiet")
    done = subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=other,
        env={**os.environ, "PYTHONPATH": str(other)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "worker 1 ended with code 1: no such luck" in done.stdout
    assert "taken over here: shard 1/2 was not begun; shard 2/2 was not begun" in done.stdout
    assert rows(other, run) == expected
