"""The main job as a user runs it: tune, review, score, report, and what a killed job leaves."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.conftest import heldout

from heldout.brain import load_brain
from heldout.store import Ledger, remember_brain

ROWS = """
SELECT purpose, incident, arm, repeat, attempt, result, investigations.calls, seed
FROM investigations JOIN runs USING (run) JOIN verdicts USING (run, incident, arm, repeat, attempt)
"""


def rows(project: Path) -> Counter[tuple[object, ...]]:
    """Every investigation with its verdict, whatever its run is called."""
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        return Counter(tuple(row.values()) for row in ledger.read(ROWS))


def edits(project: Path) -> list[tuple[object, ...]]:
    """The life of every edit, in order."""
    sql = "SELECT edit, round, event FROM edit_events ORDER BY rowid"
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        return [tuple(row.values()) for row in ledger.read(sql)]


def files(project: Path) -> dict[str, bytes]:
    """Every file of the project but its state."""
    return {
        path.relative_to(project).as_posix(): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and not {".heldout", "__pycache__"} & set(path.parts)
    }


def test_tune_review_accept_score_report(project: Path):
    """A proposal waits, is shown and accepted; the score counts a look; the report is one file."""
    before = files(project)
    tuned = heldout(project, "tune", "--repeats", "2", "--quiet").stdout
    assert files(project) == before, "tuning must not touch the brain"
    name = re.search(r"heldout review (p-\w+)", tuned)
    assert name, tuned
    proposal = name.group(1)

    assert proposal in heldout(project, "review").stdout
    page = heldout(project, "review", proposal).stdout
    assert page.startswith("MECHANISM TEST")
    assert "+++ b/overlays/models/sim-anchored-low/method.md" in page
    assert "first different tool call" in page

    heldout(project, "review", proposal, "--accept", "--name", "kim", "--reason", "fine")
    changed = {k for k, v in files(project).items() if before.get(k) != v}
    assert changed == {"brain/overlays/models/sim-anchored-low/method.md"}
    assert "Nothing waits" in heldout(project, "review").stdout

    brain = load_brain(project / "brain").hash
    scored = heldout(project, "score", "--quiet", check=False)
    assert scored.returncode in {0, 3}, scored.stderr
    assert "sim/anchored@low is a simulated model" in scored.stdout.splitlines()[0]
    report = Path(scored.stdout.split("Report: ")[1].splitlines()[0])
    page = report.read_text()
    assert "Mechanism test" in page
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", page)
    assert load_brain(project / "brain").hash == brain, "a score never writes to a brain"

    status = heldout(project, "status").stdout
    assert "4 of 5" in status
    assert "scored" in status
    again = heldout(project, "revert", page_hash(project), "--name", "kim", "--reason", "undo")
    assert "brain in use is now" in again.stdout
    assert files(project) == before


def page_hash(project: Path) -> str:
    """The hash of the brain that the first job began with."""
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        return str(ledger.read("SELECT before_hash FROM proposals")[0]["before_hash"])


def test_a_killed_job_ends_as_if_nothing_had_happened(project: Path, tmp_path: Path):
    """SIGKILL in the middle of train, then resume: the same rows, nothing is played twice."""
    killed = Path(shutil.copytree(project, tmp_path / "killed"))
    words = ("tune", "--repeats", "1", "--quiet", "--review", "wait")
    heldout(project, *words)
    child = subprocess.Popen(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=killed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    ledger, landing = killed / ".heldout" / "ledger.duckdb", killed / ".heldout" / "journal"
    deadline = time.monotonic() + 120
    while not (ledger.is_file() and list(landing.rglob("*.jsonl"))):
        assert time.monotonic() < deadline
        assert child.poll() is None, "the job ended before it could be killed"
        time.sleep(0.02)
    time.sleep(0.4)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    heldout(killed, "resume", "--quiet")
    assert rows(killed) == rows(project)
    assert edits(killed) == edits(project)
    assert "no job was stopped" in heldout(killed, "resume", check=False).stderr


@pytest.mark.slow
def test_policy_auto_says_so_everywhere(project: Path):
    """With --review auto the text, the ledger and the report say that no person accepted."""
    said = heldout(project, "tune", "--repeats", "2", "--review", "auto", "--quiet").stdout
    assert "Accepted by policy 'auto', not by a person." in said
    report = Path(said.split("Report: ")[1].splitlines()[0])
    assert "policy" in report.read_text()
    listed = heldout(project, "review", "--all").stdout
    assert "accept by policy:auto" in listed


def test_the_gate_command_refuses_and_passes(project: Path):
    """``heldout check`` passes the base brain, and refuses a patch with an incident's name."""
    assert heldout(project, "check", "--base", "brain").returncode == 0
    alert = next((project / "datasets" / "incidents" / "alerts").glob("*.md")).read_text()
    service = alert.split("Service: ")[1].splitlines()[0]
    patch = project / "leak.json"
    patch.write_text(
        '{"ops": [{"file": "method.md", "action": "append", "text": '
        f'"When {service} is slow, look at its pool first."}}], "reason": "r"}}'
    )
    done = heldout(project, "check", "leak.json", check=False)
    assert done.returncode == 3, done.stdout
    assert "method.md:" in done.stdout


@pytest.mark.slow
def test_a_provider_that_is_away_is_invalid_and_never_a_wrong_answer(project: Path):
    """With nobody listening every investigation is invalid, the exit code is 1, and no fail is booked."""
    words = ("run", "--model", "openai/some-model@low", "--base-url", "http://127.0.0.1:9/v1",
             "--repeats", "1", "--quiet")  # fmt: skip
    done = heldout(project, *words, check=False)
    assert done.returncode == 1
    assert "0 failed, 4 invalid" in done.stdout
    assert "provider_unavailable" in done.stdout
    heldout(project, *words, check=False)
    results = Counter(str(row[5]) for row in rows(project).elements())
    assert results == {"invalid": 12}, "each slot is refilled at most twice, also by a later call"


def test_a_missing_key_is_named_before_anything_is_played(project: Path):
    """Without a key a provider off loopback is not called; the variable to set is named."""
    done = heldout(project, "run", "--model", "openai/some-model@low", "--quiet", check=False)
    assert done.returncode == 1
    assert "OPENAI_API_KEY" in done.stderr


def test_words_that_do_not_fit_are_named(project: Path):
    """An unknown incident beside a known one, or an unknown arm, is refused and never passed over."""
    known = next((project / "datasets" / "incidents" / "alerts").glob("*.md")).stem
    wrong = heldout(project, "run", "--incident", "bogus", "--incident", known, check=False)
    assert wrong.returncode == 2
    assert "'bogus'" in wrong.stderr
    brain = load_brain(project / "brain").hash
    with Ledger.open(project / ".heldout" / "ledger.duckdb") as ledger:
        remember_brain(ledger, load_brain(project / "brain"))
    arms = heldout(project, "score", "--arms", "nonsense", "--before", brain, check=False)
    assert (arms.returncode, "--arms" in arms.stderr) == (2, True), arms.stderr
