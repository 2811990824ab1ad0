"""Runs judged by models: terms, caps, costs, a judge that fails, and one that is killed midway."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer, Seen, all_hold
from judge_stubs import Interface
from run_stubs import LOOKS, ScriptedClient, case, plan_of, settings_of

from heldout.errors import ConfigError, UsageError
from heldout.judge import judge_hash
from heldout.run import Plan, RunResult, Terms, play, resume
from heldout.run.caps import Caps
from heldout.run.judging import choice_of
from heldout.store import Ledger, queries


def terms(server: JudgeServer, *models: str) -> Terms:
    """Judged by models at a server."""
    return Terms(judge="llm", judge_models=models or ("lab/judge",), judge_base_url=server.url)


def plan(root: Path, server: JudgeServer, incidents: int = 2, **changed: Any) -> Plan:
    """A plan of right answers (the scripted model submits the right ids) judged at a server."""
    cases = [case(root, f"i{number}") for number in range(incidents)]
    values: dict[str, Any] = {"terms": terms(server), "repeats": 1, "concurrency": 2}
    return plan_of(cases, **{**values, **changed})


def played(
    root: Path, one: Plan, client: ScriptedClient, run: str = "", caps: Caps | None = None
) -> tuple[RunResult, queries.Cost]:
    """The plan played (or a run resumed), and what it cost."""

    async def go() -> tuple[RunResult, queries.Cost]:
        with Ledger.open(root / "ledger.duckdb") as ledger:
            factory = lambda _: client
            start = resume(run, ledger, settings_of(root), interface=Interface(),
                           client_factory=factory, caps=caps) if run else play(
                one, ledger, settings_of(root), interface=Interface(), client_factory=factory,
                caps=caps)  # fmt: skip
            result = await start
            return result, queries.cost(ledger, run=result.run)

    return asyncio.run(go())


def test_the_terms_choose_the_judge(tmp_path: Path, server: JudgeServer):
    """Models judge every investigation; verdicts, cost and hash are kept, apart from the agent's."""
    one, client = plan(tmp_path, server), ScriptedClient()
    result, cost = played(tmp_path, one, client)
    assert {o.verdict.result for o in result.outcomes} == {"pass"}
    assert {o.verdict.judge for o in result.outcomes} == {"llm"}
    assert len(server.seen) == 4
    assert result.plan.pins["judge"] == judge_hash(choice_of(one.terms)) != judge_hash()
    assert (cost.judge_calls, cost.judge_tokens, cost.judge_usd) == (4, 4000, None)
    assert cost.usd == pytest.approx(0.01 * 4 * (LOOKS + 1))
    assert cost.total_usd is None
    with Ledger.open(tmp_path / "ledger.duckdb") as ledger:
        row = queries.investigations(ledger, result.run)[0]
        assert row.verdicts[0].criteria["members"]["lab/judge"]["result"] == "pass"


def test_a_model_says_fail_and_the_run_says_so(tmp_path: Path, server: JudgeServer):
    """The verdict is the model's where words decide."""
    server.think = lambda seen: all_hold(seen, yes=False)
    result, _ = played(tmp_path, plan(tmp_path, server), ScriptedClient())
    assert {o.verdict.result for o in result.outcomes} == {"fail"}


def test_the_same_plan_pays_no_judge_twice(tmp_path: Path, server: JudgeServer):
    """What has a verdict is not judged again by the same plan."""
    one, client = plan(tmp_path, server), ScriptedClient()
    played(tmp_path, one, client)
    calls, asked = client.calls, len(server.seen)
    played(tmp_path, one, client)
    assert (client.calls, len(server.seen)) == (calls, asked)


def test_a_judge_that_fails_costs_no_investigation(tmp_path: Path, server: JudgeServer):
    """A judge that fails once is asked again about the same investigation: nothing is replayed."""
    failed: set[str] = set()

    def think(seen: Seen) -> Any:
        key = seen.prompt.split("<<<")[0]
        if key in failed:
            return all_hold(seen)
        if seen.turns > 2:
            failed.add(key)
        return "unreadable"

    server.think = think
    client = ScriptedClient()
    one = plan(tmp_path, server, incidents=1, arms=plan(tmp_path, server).arms[:1])
    result, cost = played(tmp_path, one, client)
    assert client.calls == LOOKS + 1
    assert [o.verdict.result for o in result.outcomes] == ["invalid", "pass"]
    assert [o.reason for o in result.outcomes] == ["judge", ""]
    assert cost.calls == LOOKS + 1
    assert cost.usd == pytest.approx(0.01 * (LOOKS + 1))
    assert cost.judge_calls == 3


def test_a_judge_that_stays_away_is_invalid_and_asked_anew_later(
    tmp_path: Path, server: JudgeServer
):
    """After its tries the slot is invalid, never failed; a later resume only asks the judge."""
    server.think = lambda _: "unreadable"
    client = ScriptedClient()
    one = plan(tmp_path, server, max_invalid=1.0)
    result, _ = played(tmp_path, one, client)
    assert {o.verdict.result for o in result.outcomes} == {"invalid"}
    assert {o.reason for o in result.outcomes} == {"judge"}
    calls = client.calls
    assert calls == 4 * (LOOKS + 1)
    server.think = all_hold
    again, cost = played(tmp_path, one, client, run=result.run)
    assert client.calls == calls
    assert sum(o.verdict.result == "pass" for o in again.outcomes) == 4
    assert cost.calls == calls


def test_a_refused_key_of_the_judge_stops_the_run_and_loses_nothing(
    tmp_path: Path, server: JudgeServer
):
    """401 from the judge ends the run at once; resumed, the journals are all that is needed."""
    server.think = lambda _: 401
    client = ScriptedClient()
    one = plan(tmp_path, server)
    with pytest.raises(ConfigError, match="refuses"):
        played(tmp_path, one, client)
    server.think = all_hold
    result, cost = played(tmp_path, one, client)
    assert {o.verdict.result for o in result.outcomes} == {"pass"}
    assert cost.calls == 4 * (LOOKS + 1)


def test_judging_counts_against_the_caps(tmp_path: Path, server: JudgeServer):
    """A cap in tokens that the agents alone would keep is reached with the judge's."""
    alone = 4 * (LOOKS + 1) * 110
    one = plan(tmp_path, server, concurrency=1, max_invalid=1.0)
    result, _ = played(tmp_path, one, ScriptedClient(), caps=Caps(max_tokens=alone + 100))
    assert result.absent or any(o.reason == "cap" for o in result.outcomes)
    more, _ = played(tmp_path, one, ScriptedClient(), run=result.run)
    assert sum(o.verdict.result == "pass" for o in more.outcomes) == 4


def test_a_judge_that_cannot_be_begins_nothing(tmp_path: Path, server: JudgeServer):
    """No model named, or a simulated one: refused before a call or a row."""
    client = ScriptedClient()
    for bad in (Terms(judge="llm"), Terms(judge="llm", judge_models=("sim/anchored",))):
        with pytest.raises(UsageError):
            played(tmp_path, plan(tmp_path, server, terms=bad), client)
    assert client.calls == 0
    assert client.closed
    with Ledger.open(tmp_path / "ledger.duckdb") as ledger:
        assert queries.runs(ledger) == []


def test_a_changed_judge_cannot_go_on_with_a_run(
    tmp_path: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
):
    """Resuming after a word of a prompt changed would mix two judges, and is refused."""
    result, _ = played(tmp_path, plan(tmp_path, server), ScriptedClient())
    monkeypatch.setattr("heldout.judge.choice.prompts_hash", lambda: "another")
    with pytest.raises(ConfigError, match="judge has changed"):
        played(tmp_path, result.plan, ScriptedClient(), run=result.run)
