"""Starting processes that play, stopping them, and what must be true once they went on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import run_process as process
import run_stubs as stubs
from run_server import LOOKS, Server

from heldout.run import outcomes
from heldout.store import Ledger
from heldout.store import queries as q

SCRIPT = Path(process.__file__)
CALLS = process.INCIDENTS * 2 * (LOOKS + 1)


def start(root: Path, url: str, *words: str, off: str = "") -> subprocess.Popen[str]:
    """Start a process that plays, without one of its guards if so told."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(root), url, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENAI_API_KEY": "sk-a-secret-of-the-tests", "OFF": off},
    )


def finish(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a process."""
    out, err = running.communicate(timeout=240)
    return running.returncode, out.strip(), err


def rows(root: Path, run: str) -> list[Any]:
    """Everything of a run but its times."""
    with Ledger.open(stubs.settings_of(root).ledger) as ledger:
        found = outcomes(ledger, run)
        result = []
        for one in found:
            trace = one.trace
            assert trace is not None
            steps = [replace(step, seconds=0.0) for step in trace.steps]
            tokens = (trace.calls, trace.input_tokens, trace.output_tokens, trace.usd)
            key = (one.incident, one.arm, one.repeat, one.attempt, one.reason, one.verdict)
            result.append((key, tokens, steps, trace.messages, trace.submission))
        assert len(ledger.read("SELECT * FROM verdicts WHERE run = ?", [run])) == len(found)
        assert q.run(ledger, run).status == "finished"
    return result


def finished(root: Path) -> set[tuple[str, str]]:
    """(incident, arm) of every investigation in the ledger or in a landing file."""
    settings = stubs.settings_of(root)
    done: set[tuple[str, str]] = set()
    if settings.ledger.exists():
        with Ledger.open(settings.ledger) as ledger:
            sql = "SELECT incident, arm FROM investigations"
            done = {(row["incident"], row["arm"]) for row in ledger.read(sql)}
    for path in settings.landing.rglob("*.json"):
        record = json.loads(path.read_text())
        done.add((record["incident"], record["arm"]))
    return done


def kept(root: Path) -> int:
    """Replies that lie on disk after a kill: in the ledger, in landing files, in journals."""
    settings, done = stubs.settings_of(root), finished(root)
    lines = 0
    for path in (settings.state / "journal").rglob("*.jsonl"):
        incident, arm = path.name.split("--")[:2]
        if (incident, arm) not in done:
            lines += path.read_bytes().count(b"\n")
    return len(done) * (LOOKS + 1) + lines


def resumed(root: Path, server: Server) -> tuple[str, int]:
    """Go on in a new process; the run's id, and how many requests it took."""
    before = server.total
    with Ledger.open(stubs.settings_of(root).ledger) as ledger:
        known = q.runs(ledger)
    code, run, err = finish(start(root, server.url, known[0].run if known else "play"))
    assert code == 0, err
    return run, server.total - before


def check_resumed(root: Path, server: Server, expected: list[Any]) -> None:
    """Resume in a new process: same rows, and exactly the replies not on disk are asked again."""
    there, done = kept(root), finished(root)
    run, asked = resumed(root, server)
    assert asked == CALLS - there
    assert {server.asked[one] for one in done} <= {LOOKS + 1}, "finished work was paid for twice"
    found = rows(root, run)
    assert [row[0] for row in found] == [row[0] for row in expected]
    assert found == expected
    state = stubs.settings_of(root).state
    left = [path for name in ("landing", "journal") for path in (state / name).rglob("*.*")]
    assert not left
