"""``heldout run`` and ``heldout resume`` in a project of one real incident."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_cut import heldout, make

from heldout.run import outcomes
from heldout.store import Ledger, queries

DEMO = Path(__file__).resolve().parents[2] / "datasets" / "demo"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one train incident of the demo's set."""
    return make(tmp_path_factory.mktemp("run") / "project", 1)


def count(project: Path, run: str) -> int:
    """Investigations of a run in the ledger."""
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        sql = "SELECT count(*) AS n FROM investigations WHERE starts_with(run, ?)"
        return int(ledger.read(sql, [run])[0]["n"])


def test_a_capped_run_says_so_and_is_gone_on_with(project: Path):
    """The cap, what it left, how to go on; then the whole run with its coverage."""
    said = heldout(project, "run", "--repeats", "2", "--max-tokens", "1", "--quiet")
    assert "cap of 1 tokens is reached" in said
    assert "coverage 0%" in said
    run = said.split()[1]
    assert f"'heldout resume {run[:8]}' goes on" in said
    done = heldout(project, "resume", "--quiet")
    assert done.split()[1] == run
    assert "coverage 100%: 2 of 2 valid" in done
    assert "majority of 2 repeats" in done
    assert "goes on" not in done
    assert "nor a run" in heldout(project, "resume", code=2)


def test_a_run_in_every_mode(project: Path):
    """``--mode`` is pinned by the manifest and seen in the trace; an unknown one is a mistake."""
    for mode in ("json", "notebook"):
        run = heldout(project, "run", "--repeats", "1", "--mode", mode, "--quiet").split()[1]
        with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
            row = queries.run(ledger, run)
            (outcome,) = outcomes(ledger, row.run)
            assert row.manifest["terms"]["mode"] == mode
            assert outcome.trace is not None
            assert (outcome.trace.mode, outcome.trace.stop_reason) == (mode, "submitted")
            assert {one["role"] for one in outcome.trace.messages} == {
                "system",
                "user",
                "assistant",
            }
    said = heldout(project, "run", "--mode", "telepathy", code=2)
    assert "--mode: there is no 'telepathy'. Take one of tools, json, notebook." in said
    assert "--wire: there is no 'carrier'" in heldout(project, "run", "--wire", "carrier", code=2)


def test_more_repeats_of_a_finished_run(project: Path):
    """``resume RUN --repeats`` plays what is new; asking for no more is a mistake."""
    run = heldout(project, "run", "--repeats", "1", "--seed", "7", "--quiet").split()[1]
    assert "3 of 3 valid" in heldout(project, "resume", run[:8], "--repeats", "3", "--quiet")
    assert count(project, run) == 3
    assert "3 repeats already" in heldout(project, "resume", run[:8], "--repeats", "2", code=2)
    assert "need the run" in heldout(project, "resume", "--repeats", "4", code=2)
    assert "names no run" in heldout(project, "resume", "zz", code=2)


def test_the_projects_reducer_and_cap_count(project: Path):
    """What heldout.toml says of a run is what is printed and what stops it."""
    path = project / "heldout.toml"
    old = path.read_text(encoding="utf-8")
    path.write_text(
        old.replace("[run]", '[run]\nreducer = "mean"\nmax_tokens = 1')
        if "[run]" in old
        else old + '\n[run]\nreducer = "mean"\nmax_tokens = 1\n',
        encoding="utf-8",
    )
    try:
        said = heldout(project, "run", "--repeats", "2", "--seed", "9", "--quiet")
        assert "(mean of 2 repeats)" in said
        assert "cap of 1 tokens is reached" in said
        freed = heldout(project, "resume", said.split()[1], "--max-tokens", "9999999", "--quiet")
        assert "2 of 2 valid" in freed
    finally:
        path.write_text(old, encoding="utf-8")
