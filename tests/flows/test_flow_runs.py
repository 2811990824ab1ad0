"""The tuning flow runs under Prefect, with a temporary server, and leaves what the command leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.conftest import cut

from heldout.store import Ledger
from heldout.store.queries import jobs, proposals

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.prefect
def test_the_tuning_flow_leaves_a_proposal(tmp_path: Path):
    """``python flows/tune.py`` in a fresh project plays the job and writes nothing to the brain."""
    project = cut(tmp_path / "project")
    before = (project / "brain" / "method.md").read_bytes()
    done = subprocess.run(
        [sys.executable, "flows/tune.py", "--repeats", "2", "--target", "base"],
        cwd=project,
        env={**os.environ, "PREFECT_HOME": str(tmp_path / "prefect")},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "simulated model" in done.stdout.splitlines()[0]
    assert (project / "brain" / "method.md").read_bytes() == before
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        job = jobs(ledger, kind="tune")[0]
        assert job.status in {"saturated", "budget", "nothing_new"}
        assert len(proposals(ledger, waiting=True)) == 1
    assert "waits: heldout review" in done.stdout
