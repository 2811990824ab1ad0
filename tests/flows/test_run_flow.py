"""The run flow plays shards as tasks, in threads or on Dask, and leaves the rows of one process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import cut, heldout

from heldout.run import outcomes
from heldout.store import Ledger, queries

ROOT = Path(__file__).resolve().parents[2]

ON_DASK = """
import sys
from heldout.pipeline import prefect_environment
prefect_environment()
from prefect.flows import load_flow_from_entrypoint
from prefect_dask import DaskTaskRunner

if __name__ == "__main__":
    run = load_flow_from_entrypoint(sys.argv[1] + ":run")
    cluster = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    print(run.with_options(task_runner=DaskTaskRunner(cluster_kwargs=cluster))(
        project=sys.argv[2], repeats=2, shards=3, share=sys.argv[3]))
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Any]]:
    """The run in one process: its id and rows."""
    project = cut(tmp_path_factory.mktemp("alone") / "project")
    run = heldout(project, "run", "--repeats", "2", "--quiet").stdout.split()[1]
    return run, rows(project, run)


def rows(project: Path, run: str) -> list[Any]:
    """Everything of a run but its times."""
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        found = []
        for one in outcomes(ledger, run):
            assert one.trace is not None
            steps = [replace(step, seconds=0.0) for step in one.trace.steps]
            key = (one.incident, one.arm, one.repeat, one.attempt, one.reason, one.verdict)
            found.append((key, steps, one.trace.messages, one.trace.submission))
        assert queries.run(ledger, run).status == "finished"
    return found


def played(project: Path, home: Path, *command: str) -> str:
    """Run a flow in a process of its own; what it prints."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env={**os.environ, "PREFECT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.prefect
def test_threads_leave_the_rows_of_one_process(tmp_path: Path, expected: tuple[str, list[Any]]):
    """``python flows/run.py``: four shards in threads of the flow's process."""
    project = cut(tmp_path / "project")
    with (project / "heldout.toml").open("a", encoding="utf-8") as file:
        file.write("\n[run]\nrepeats = 2\n")
    said = played(project, tmp_path / "prefect", str(ROOT / "flows" / "run.py"))
    assert "coverage 100%" in said
    assert "taken over" not in said, "every shard was played by its task"
    assert rows(project, said.split()[1]) == expected[1]


@pytest.mark.prefect
@pytest.mark.skipif(
    importlib.util.find_spec("prefect_dask") is None,
    reason="the extra heldout[dask] is not installed",
)
def test_dask_leaves_the_rows_of_one_process(tmp_path: Path, expected: tuple[str, list[Any]]):
    """The same flow with Dask's task runner: two worker processes, three shards."""
    project = cut(tmp_path / "project")
    script = tmp_path / "on_dask.py"
    script.write_text(ON_DASK)
    words = (str(ROOT / "flows" / "run.py"), str(project), str(tmp_path / "shared"))
    said = played(project, tmp_path / "prefect", str(script), *words)
    assert "taken over" not in said
    assert said.split()[1] == expected[0]
    assert rows(project, expected[0]) == expected[1]
