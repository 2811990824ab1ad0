"""What is counted of a trace when it is stored is what counting it later gives, and saves that."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import run_stubs as stubs

from heldout.agent.footprint import footprint
from heldout.compare import Comparison, compare_stored, render_comparison
from heldout.run import Arm, history, outcomes, play
from heldout.run.history import StoredTrace
from heldout.store import Ledger


def two_runs(root: Path) -> tuple[str, str]:
    """Two runs of one arm each over the same incidents."""
    settings, runs = stubs.settings_of(root), []
    cases = [stubs.case(root, "i-1"), stubs.case(root, "i-2", "wrong")]
    with Ledger.open(settings.ledger) as ledger:
        for text in ("Look.", "Look twice."):
            plan = stubs.plan_of(cases, arms=(Arm("brain", stubs.brain(text)),))
            client = stubs.ScriptedClient()
            result = asyncio.run(
                play(
                    plan,
                    ledger,
                    settings,
                    interface=stubs.StubInterface(),
                    client_factory=lambda _, client=client: client,  # type: ignore[misc]
                    judge=stubs.judge,
                )
            )
            runs.append(result.run)
    return runs[0], runs[1]


def compared(root: Path, runs: tuple[str, str]) -> Comparison:
    """The two runs side by side, read anew from the ledger."""
    with Ledger.open(stubs.settings_of(root).ledger) as ledger:
        return compare_stored(ledger, *runs, outcomes)


def test_kept_counts_are_those_of_the_trace(tmp_path: Path):
    """Row by row the kept footprint is the one that the whole trace gives."""
    runs = two_runs(tmp_path)
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        found = [one.trace for run in runs for one in outcomes(ledger, run)]
        for trace in found:
            assert isinstance(trace, StoredTrace)
            assert trace.kept is not None
            assert trace.kept == footprint(trace.full())
            assert footprint(trace, frozenset()).named == 1, "what hangs on a world is counted anew"
    assert len(found) == 8


def test_comparing_reads_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A comparison decodes nothing; of rows without counts it decodes each trace once."""
    runs = two_runs(tmp_path)
    read: list[bytes] = []
    real = history.unpack

    def unpack(packed: bytes, texts: Any) -> Any:
        read.append(packed)
        return real(packed, texts)

    monkeypatch.setattr(history, "unpack", unpack)
    quick = compared(tmp_path, runs)
    assert read == []
    monkeypatch.setattr(history, "_kept", lambda row: None)
    slow = compared(tmp_path, runs)
    assert len(read) == 8
    assert render_comparison(slow) == render_comparison(quick)
