"""What a job or a model cost altogether, and since when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from heldout.store import Ledger
from heldout.store.spending import month_of, proposing, spending


def investigation(run: str, **changed: Any) -> dict[str, Any]:
    """A row of table ``investigations`` that cost half a dollar."""
    row = {
        "run": run, "incident": "i", "arm": "a", "repeat": 0, "attempt": 0, "seed": 1, "reason": "",
        "calls": 2, "steps": 3, "input_tokens": 10, "cached_tokens": 1, "output_tokens": 5,
        "usd": 0.5, "seconds": 1.5, "started": 1, "ended": 100,
    }  # fmt: skip
    return {**row, **changed}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Two jobs of two models: one with a proposer that cost something, one of unknown price."""
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        for job, model, run in (("j1", "m1", "r1"), ("j2", "m2", "r2")):
            ledger.append("jobs", [{"job": job, "kind": "tune", "status": "done", "model": model}])
            ledger.append(
                "runs",
                [{"run": run, "job": job, "purpose": "train", "model": model, "manifest_json": {},
                  "cases_json": [], "started": 1}],
            )  # fmt: skip
        ledger.append(
            "investigations",
            [
                investigation("r1"),
                investigation("r1", repeat=1, ended=300),
                investigation("r2", usd=None),
            ],
        )
        spent = {"calls": 3, "input_tokens": 900, "output_tokens": 100, "usd": 0.25}
        ledger.append(
            "edit_events",
            [
                {"edit": "", "job": "j1", "event": "asked", "detail_json": {"spent": spent}, "at": 200},
                {"edit": "", "job": "j1", "event": "asked", "detail_json": {"spent": None}},
                {"edit": "e", "job": "j1", "event": "drafted", "detail_json": {"why": "x"}},
            ],
        )  # fmt: skip
        ledger.flush()
        yield ledger


def test_the_proposer_counts_with_the_investigations(ledger: Ledger):
    """A job's spending is its investigations and what reading failures and drafting cost."""
    one = spending(ledger, job="j1")
    assert (one.investigations, one.calls, one.total_tokens, one.total_usd) == (2, 7, 1030, 1.25)
    assert proposing(ledger, job="j2").calls == 0


def test_an_unknown_price_makes_the_sum_unknown(ledger: Ledger):
    """A model without a price costs unknown, never nothing, and so does everything with it."""
    assert spending(ledger, model="m1").total_usd == 1.25
    assert spending(ledger, model="m2").total_usd is None
    assert spending(ledger).total_usd is None
    assert spending(ledger).total_tokens == 1045


def test_only_what_ended_since_then_counts(ledger: Ledger):
    """A month's spending leaves out what ended before it, the proposer's calls too."""
    late = spending(ledger, model="m1", since=150)
    assert (late.investigations, late.total_usd) == (1, 0.75)
    assert spending(ledger, model="m1", since=250).total_usd == 0.5
    assert spending(ledger, model="m1", since=301).total_tokens == 0


def test_a_month_begins_at_its_first_midnight():
    """The first microsecond of the month, in UTC."""
    day = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)
    assert (
        month_of(int(day.timestamp() * 1e6)) == datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1e6
    )
