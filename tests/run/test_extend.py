"""More repeats for a finished run, and caps that count what a run cost before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import run_stubs as stubs

from heldout.errors import UsageError
from heldout.run import Caps, Plan, play, resume
from heldout.run.slots import MAX_ATTEMPTS
from heldout.store import Ledger
from heldout.store import queries as q


def go(root: Path, what: Plan | str, client: stubs.ScriptedClient, **more: Any) -> Any:
    """Play a plan, or resume a run by its id."""
    settings = stubs.settings_of(root)
    start: Any = resume if isinstance(what, str) else play
    with Ledger.open(settings.ledger) as ledger:
        return asyncio.run(
            start(
                what,
                ledger,
                settings,
                interface=stubs.StubInterface(),
                client_factory=lambda _: client,
                judge=stubs.judge,
                **more,
            )
        )


def rows(root: Path, run: str) -> dict[tuple[str, str, int], Any]:
    """Seed, end and verdict of every attempt."""
    with Ledger.open(stubs.settings_of(root).ledger) as ledger:
        return {
            (one.incident, one.arm, one.repeat): (one.seed, one.ended, one.verdicts)
            for one in q.investigations(ledger, run)
        }


def plan(root: Path, **changed: Any) -> Plan:
    """Two incidents, one arm."""
    cases = [stubs.case(root, "i-1"), stubs.case(root, "i-2")]
    arms = stubs.plan_of(cases).arms[:1]
    return stubs.plan_of(cases, arms=arms, **changed)


def test_more_repeats_play_only_what_is_new(tmp_path: Path):
    """Two repeats become five: three more each, the earlier rows as they were."""
    first = go(tmp_path, plan(tmp_path), stubs.ScriptedClient())
    before, client = rows(tmp_path, first.run), stubs.ScriptedClient()
    longer = go(tmp_path, first.run[:6], client, repeats=5)
    after = rows(tmp_path, first.run)
    assert longer.run == first.run
    assert client.calls == 2 * 3 * (stubs.LOOKS + 1)
    assert {key: after[key] for key in before} == before
    assert sorted(after) == [(i, "before", r) for i in ("i-1", "i-2") for r in range(5)]
    assert len({seed for seed, _, _ in after.values()}) == 10
    assert longer.absent == 0
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        row = q.run(ledger, first.run)
        assert (row.manifest["repeats"], row.status) == (5, "finished")
        assert len(ledger.read("SELECT * FROM runs")) == 1, "the first manifest stays"


def test_the_first_plan_again_is_the_extended_run(tmp_path: Path):
    """A run that was given more repeats keeps them when its own plan is played again."""
    first = go(tmp_path, plan(tmp_path), stubs.ScriptedClient())
    go(tmp_path, first.run, stubs.ScriptedClient(), repeats=4)
    client = stubs.ScriptedClient()
    again = go(tmp_path, plan(tmp_path), client)
    assert (again.run, again.plan.repeats, again.absent, client.calls) == (first.run, 4, 0, 0)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"purpose": "score"}, "never added"),
        ({"purpose": "screen"}, "belongs to a job"),
        ({"job": "tune-1"}, "belongs to a job"),
    ],
)
def test_a_score_and_a_jobs_run_take_no_repeats(tmp_path: Path, changed: Any, said: str):
    """What was decided by the repeats it had is not added to, and nothing is asked."""
    first = go(tmp_path, plan(tmp_path, **changed), stubs.ScriptedClient())
    client = stubs.ScriptedClient()
    with pytest.raises(UsageError, match=said) as error:
        go(tmp_path, first.run, client, repeats=5)
    assert error.value.exit_code == 2
    assert (client.calls, client.closed) == (0, True)
    assert len(rows(tmp_path, first.run)) == 4


@pytest.mark.parametrize("repeats", [1, 2])
def test_fewer_repeats_or_as_many_are_refused(tmp_path: Path, repeats: int):
    """Adding none is a mistake that is named."""
    first = go(tmp_path, plan(tmp_path), stubs.ScriptedClient())
    with pytest.raises(UsageError, match="2 repeats already"):
        go(tmp_path, first.run, stubs.ScriptedClient(), repeats=repeats)


def test_a_killed_extension_is_gone_on_with(tmp_path: Path):
    """The new manifest row counts at once: what a cap stopped, 'resume' finishes."""
    first = go(tmp_path, plan(tmp_path), stubs.ScriptedClient())
    half = go(tmp_path, first.run, stubs.ScriptedClient(), repeats=5, caps=Caps(max_seconds=0.0))
    assert half.absent == 6
    client = stubs.ScriptedClient()
    assert go(tmp_path, first.run, client).absent == 0
    assert client.calls == 6 * (stubs.LOOKS + 1)


def test_a_runs_cap_counts_what_it_cost_before(tmp_path: Path):
    """The same cap again plays nothing; a higher one goes on where the run stands."""
    first = go(tmp_path, plan(tmp_path), stubs.ScriptedClient(), caps=Caps(max_usd=0.06))
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        assert q.run(ledger, first.run).status == "capped"
        assert "0.06 USD" in q.run(ledger, first.run).status_detail["why"]
    same, more = stubs.ScriptedClient(), stubs.ScriptedClient()
    go(tmp_path, first.run, same, caps=Caps(max_usd=0.06))
    assert same.calls == 0
    done = go(tmp_path, first.run, more, caps=Caps(max_usd=1.0))
    assert done.absent == 0
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        assert q.run(ledger, first.run).status == "finished"
        assert q.cost(ledger, run=first.run).calls == 4 * (stubs.LOOKS + 1)


def test_a_cap_never_uses_up_a_slots_attempts(tmp_path: Path):
    """Stopped by a cap more often than a slot may be refilled, it is still played to its end."""
    one = plan(tmp_path, repeats=1, concurrency=1)
    run = go(tmp_path, one, stubs.ScriptedClient(), caps=Caps(max_tokens=1)).run
    for number in range(1, MAX_ATTEMPTS + 1):
        go(tmp_path, run, stubs.ScriptedClient(), caps=Caps(max_tokens=110 * number + 1))
    done = go(tmp_path, run, stubs.ScriptedClient())
    kept = [o for o in done.outcomes if o.verdict.result != "invalid"]
    assert [o.verdict.result for o in kept] == ["pass", "pass"]
    assert any(o.attempt >= MAX_ATTEMPTS for o in done.outcomes), "the guard was reached"
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        assert q.cost(ledger, run=run).calls == 2 * (stubs.LOOKS + 1)
