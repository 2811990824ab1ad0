"""The calendar month's caps: what everything may spend together, before a run and during it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import run_stubs as stubs

from heldout.errors import CapReached, ConfigError
from heldout.run import Budget, Caps, Month, RunResult, open_month, play
from heldout.run.caps import require_priced
from heldout.settings import MonthSettings, Settings
from heldout.store import Ledger, now_us
from heldout.store import queries as q

DECEMBER = int(datetime(2026, 12, 31, 23, 59, tzinfo=UTC).timestamp()) * 1_000_000
JANUARY = int(datetime(2027, 1, 1, 0, 1, tzinfo=UTC).timestamp()) * 1_000_000


def run(root: Path, name: str, month: MonthSettings, told: str = "", **more: Any) -> RunResult:
    """Play one incident in the project's ledger under the month's caps."""
    settings = replace(stubs.settings_of(root), month=month)
    plan = stubs.plan_of([stubs.case(root, name, told)], repeats=1, concurrency=1, max_invalid=1.0)
    client = stubs.ScriptedClient()
    with Ledger.open(settings.ledger) as ledger:
        return asyncio.run(
            play(
                plan,
                ledger,
                settings,
                interface=stubs.StubInterface(),
                judge=stubs.judge,
                client_factory=lambda _: client,
                **more,
            )
        )


def test_what_other_runs_spent_this_month_counts(tmp_path: Path):
    """A run of its own with caps of its own begins with what others left of the month."""
    run(tmp_path, "i-1", MonthSettings())
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        spent = q.cost(ledger)
    assert spent.total_usd
    left = MonthSettings(max_usd=spent.total_usd)
    assert run(tmp_path, "i-2", left, caps=Caps(max_usd=99.0)).absent == 2
    assert run(tmp_path, "i-3", MonthSettings(max_tokens=spent.total_tokens)).absent == 2
    assert run(tmp_path, "i-4", MonthSettings(max_usd=99.0, max_tokens=10**9)).absent == 0


def test_the_month_stops_a_run_in_the_middle(tmp_path: Path):
    """What a run itself spends counts too: it ends between two calls, and can be gone on with."""
    stopped = run(tmp_path, "i-1", MonthSettings(max_usd=0.015))
    assert [one.reason for one in stopped.outcomes] == ["cap"]
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        row = q.run(ledger, stopped.run)
        assert (row.status, row.status_detail["why"][:35]) == (
            "capped", "the month's cap of 0.015 USD is rea",
        )  # fmt: skip


def test_an_unknown_price_is_not_nothing(tmp_path: Path):
    """After one reply of unknown price a cap in USD cannot be kept, and says to cap tokens."""
    run(tmp_path, "i-1", MonthSettings(), "priceless")
    settings = replace(stubs.settings_of(tmp_path), month=MonthSettings(max_usd=50.0))
    with Ledger.open(settings.ledger) as ledger:
        month = open_month(settings, ledger)
        assert month is not None
        assert "cap tokens instead" in month.reached()
        tokens = open_month(replace(settings, month=MonthSettings(max_tokens=10**9)), ledger)
        assert tokens is not None
        assert tokens.reached() == ""


def test_without_a_cap_there_is_no_budget(tmp_path: Path):
    """No cap, no query."""
    settings = stubs.settings_of(tmp_path)
    with Ledger.open(settings.ledger) as ledger:
        assert open_month(settings, ledger) is None


def test_a_new_month_begins_at_nothing(tmp_path: Path):
    """Both for what the ledger holds and for a job that works through midnight."""
    run(tmp_path, "i-1", MonthSettings())
    settings = replace(stubs.settings_of(tmp_path), month=MonthSettings(max_tokens=10))
    with Ledger.open(settings.ledger) as ledger:
        assert open_month(settings, ledger).reached()  # type: ignore[union-attr]
        later = open_month(settings, ledger, now=lambda: now_us() + 40 * 86_400_000_000)
        assert later.reached() == ""  # type: ignore[union-attr]
    now = [DECEMBER]
    month = Month(MonthSettings(max_usd=1.0), now=lambda: now[0])
    month.add(1.5, 10)
    with pytest.raises(
        CapReached, match=r"1 USD is reached \(1.50 USD and 10 tokens since 2026-12"
    ):
        month.require()
    now[0] = JANUARY
    assert month.reached() == ""
    assert month.tokens == 0


def test_a_share_is_held_back_for_the_end_of_a_job():
    """A job's rounds stop before the month is used up, so that its effect can be measured."""
    month = Month(MonthSettings(max_usd=10.0, max_tokens=1000))
    month.add(5.0, 0)
    month.keep(0.2)
    month.add(3.9, 0)
    assert month.reached() == ""
    month.add(0.2, 0)
    assert "10 USD" in month.reached()
    month.keep(0.0)
    assert month.reached() == ""


def test_what_is_left_is_the_lesser_of_both():
    """A run that is cut into shards may spend what its own caps and the month's both allow."""
    month = Month(MonthSettings(max_usd=10.0), usd=9.0, tokens=70)
    budget = Budget(Caps(max_usd=5.0, max_tokens=100), usd=1.0, tokens=40, within=month)
    assert budget.left() == Caps(1.0, 60)
    assert month.words() == "this month, all models: 9.00 of 10.00 USD, 70 tokens"
    budget.add(None, 1)
    assert budget.left() == Caps(0.0, 59)
    assert Budget(Caps()).left() == Caps()


def test_a_cap_in_usd_needs_a_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A model without a price is refused before anything is played; a cap in tokens is not."""
    monkeypatch.setenv("OPENAI_API_KEY", "nothing")
    settings = replace(stubs.settings_of(tmp_path), month=MonthSettings(max_usd=5.0))
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], model="openai/unheard-of@low")
    with Ledger.open(settings.ledger) as ledger:
        with pytest.raises(ConfigError, match=r"no price.*Cap tokens instead"):
            asyncio.run(play(plan, ledger, settings, interface=stubs.StubInterface()))
        assert q.runs(ledger) == []
    require_priced(settings, ["openai/unheard-of@low"], None, None)
    require_priced(settings, ["sim/anchored@low"], 5.0)
    (tmp_path / "prices.toml").write_text(
        'as_of = 2026-11-01\n[openai."unheard-of"]\ninput = 1.0\noutput = 2.0\n'
    )
    require_priced(settings, ["openai/unheard-of@low"], 5.0)


def test_caps_of_the_month_decide_no_result(tmp_path: Path):
    """They can be raised under a score that goes on: its settings' digest stays."""
    settings = Settings(root=tmp_path)
    assert replace(settings, month=MonthSettings(max_usd=1.0)).digest() == settings.digest()
    other = settings.run.model_copy(update={"repeats": 9})
    assert replace(settings, run=other).digest() != settings.digest()
