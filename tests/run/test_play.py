"""Playing a plan: order, verdicts, whose failure is whose, caps, refills."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import run_stubs as stubs

from heldout.errors import ConfigError, SplitViolation, StoreError
from heldout.run import Caps, Plan, RunResult, play
from heldout.run.slots import slot_seed, slots
from heldout.store import Ledger
from heldout.store import queries as q


def run(
    root: Path, plan: Plan, client: stubs.ScriptedClient | None = None, **more: Any
) -> RunResult:
    """Play a plan in a ledger of its own and check that everything is tidied away."""
    client = client or stubs.ScriptedClient()
    settings = stubs.settings_of(root)
    more = {"judge": stubs.judge, "interface": stubs.StubInterface(), **more}
    with Ledger.open(settings.ledger) as ledger:
        result = asyncio.run(play(plan, ledger, settings, client_factory=lambda _: client, **more))
        assert client.closed
        list(result.outcomes)
        for one in result.outcomes:
            if one.trace is not None:
                _ = one.trace.steps
    assert not list(settings.landing.rglob("*.json"))
    return result


def results(result: RunResult) -> Counter[tuple[str, str]]:
    """How often each (result, reason) occurs."""
    return Counter((one.verdict.result, one.reason) for one in result.outcomes)


def test_every_slot_is_played_once_and_judged(tmp_path: Path):
    """Cases x arms x repeats outcomes, right answers pass and wrong ones fail."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1"), stubs.case(tmp_path, "i-2", "wrong")])
    result = run(tmp_path, plan)
    assert results(result) == {("pass", ""): 4, ("fail", ""): 4}
    assert len({(one.incident, one.arm, one.repeat) for one in result.outcomes}) == 8
    assert {one.incident for one in result.outcomes if one.verdict.result == "pass"} == {"i-1"}
    assert result.absent == 0
    with Ledger.open(stubs.settings_of(tmp_path).ledger, read_only=True) as ledger:
        assert q.run(ledger, result.run).status == "finished"


def test_a_trace_is_read_back_as_it_was(tmp_path: Path):
    """Messages, steps and submission of a stored trace are those of the investigation."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], repeats=1)
    settings, client = stubs.settings_of(tmp_path), stubs.ScriptedClient()
    with Ledger.open(settings.ledger) as ledger:
        result = asyncio.run(
            play(
                plan,
                ledger,
                settings,
                interface=stubs.StubInterface(),
                client_factory=lambda _: client,
                judge=stubs.judge,
            )
        )
        trace = result.outcomes[0].trace
        assert trace is not None
        assert len(repr(result.outcomes)) < 500 * len(result.outcomes), "no trace is read for it"
        assert [step.tool for step in trace.steps] == ["look"] * 3 + ["submit_diagnosis"]
        assert trace.steps[0].shown_ids == tuple(f"e-{n:08x}" for n in range(20))
        assert [message["role"] for message in trace.messages][:3] == [
            "system",
            "user",
            "assistant",
        ]
        assert trace.messages[3]["content"] == trace.steps[0].answer
        assert trace.submission.root_cause_entity == "e-i-1"
        assert (trace.calls, trace.input_tokens, trace.usd) == (4, 400, pytest.approx(0.04))


def test_both_arms_get_the_same_seeds_and_repeats_differ(tmp_path: Path):
    """A seed comes from plan seed, incident and repeat, never from the arm."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1"), stubs.case(tmp_path, "i-2")])
    seeds = {slot.key: slot.seed for slot in slots(plan)}
    assert all(seeds[i, "before", r] == seeds[i, "after", r] for i, _, r in seeds)
    assert len(set(seeds.values())) == 4
    assert slot_seed(1, "i-1", 0) == 1510168730


def test_the_arms_of_a_pair_stand_together_in_a_fixed_shuffle(tmp_path: Path):
    """Neighbours are one repeat's arms, an incident's repeats follow each other, seeds decide."""
    cases = [stubs.case(tmp_path, f"i-{n}") for n in range(12)]
    keys = [slot.key for slot in slots(stubs.plan_of(cases))]
    assert keys == [slot.key for slot in slots(stubs.plan_of(list(reversed(cases))))]
    assert keys != [slot.key for slot in slots(stubs.plan_of(cases, seed=2))]
    for first, second in zip(keys[::2], keys[1::2], strict=True):
        assert (first[0], first[2]) == (second[0], second[2])
        assert {first[1], second[1]} == {"before", "after"}
    assert {key[1] for key in keys[::2]} == {"before", "after"}, "the order of arms varies"
    incidents = [key[0] for key in keys[::4]]
    assert len(set(incidents)) == 12
    assert incidents != sorted(incidents)


@pytest.mark.parametrize(
    ("told", "reason", "attempts"),
    [
        ("down", "provider_unavailable", 3),
        ("bug", "provider_protocol", 3),
        ("key", "provider_refused", 1),
        ("explode", "sandbox", 3),
        ("judge!", "judge", 3),
        ("judge?", "judge", 3),
    ],
)
def test_a_failure_around_the_agent_is_invalid(
    tmp_path: Path, told: str, reason: str, attempts: int
):
    """Provider, client, environment and judge are never the agent's fault; refills are bounded."""
    cases = [stubs.case(tmp_path, "i-1", told), stubs.case(tmp_path, "i-2")]
    result = run(tmp_path, stubs.plan_of(cases, repeats=1))
    mine = [one for one in result.outcomes if one.incident == "i-1"]
    assert {(one.verdict.result, one.reason) for one in mine} == {("invalid", reason)}
    assert len(mine) == 2 * attempts
    assert {one.verdict.result for one in result.outcomes if one.incident == "i-2"} == {"pass"}
    with Ledger.open(stubs.settings_of(tmp_path).ledger, read_only=True) as ledger:
        assert q.run(ledger, result.run).status == "error"


def test_a_world_that_does_not_open_is_invalid(tmp_path: Path):
    """An environment that cannot open its task is invalid with its reason."""
    plan = stubs.plan_of([stubs.case(tmp_path, "unopened"), stubs.case(tmp_path, "i-2")], repeats=1)
    assert results(run(tmp_path, plan)) == {("invalid", "sandbox"): 6, ("pass", ""): 2}


def test_an_altered_truth_is_invalid_and_nothing_is_paid(tmp_path: Path):
    """The truth is checked before the model is called."""
    one = stubs.case(tmp_path, "i-1")
    one.truth_file.write_text(one.truth_file.read_text().replace("c-1", "c-2"))
    client = stubs.ScriptedClient()
    result = run(tmp_path, stubs.plan_of([one], repeats=1), client)
    assert results(result) == {("invalid", "truth"): 2}
    assert client.calls == 0


def test_an_agent_that_never_answers_fails(tmp_path: Path):
    """The negative control: what the model itself does is judged, never invalid."""
    result = run(tmp_path, stubs.plan_of([stubs.case(tmp_path, "i-1", "mute")], repeats=1))
    assert results(result) == {("fail", ""): 2}


def test_a_crash_of_the_loop_is_a_fail_with_its_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """An exception that escapes the agent's loop is the agent's failure, and what it cost is kept."""
    import heldout.agent.toolbox

    def crash(*_: Any, **__: Any) -> str:
        raise RecursionError("too deep")

    monkeypatch.setattr(heldout.agent.toolbox.Toolbox, "run", crash)
    result = run(tmp_path, stubs.plan_of([stubs.case(tmp_path, "i-1")], repeats=1))
    assert results(result) == {("fail", ""): 2}
    trace = result.outcomes[0].trace
    assert trace is not None
    assert (trace.stop_reason, trace.calls, trace.input_tokens) == ("crash", 1, 100)


def test_a_refilled_slot_keeps_its_first_valid_verdict(tmp_path: Path):
    """One failure of the provider, one refill, and both attempts are kept."""
    result = run(tmp_path, stubs.plan_of([stubs.case(tmp_path, "i-1", "down1")], repeats=1))
    assert results(result) == {("invalid", "provider_unavailable"): 2, ("pass", ""): 2}
    assert [(one.arm, one.attempt) for one in result.outcomes] == [
        ("after", 0),
        ("after", 1),
        ("before", 0),
        ("before", 1),
    ]


def test_the_same_plan_again_plays_nothing(tmp_path: Path):
    """A finished run is reused as it is."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")])
    first = run(tmp_path, plan)
    client = stubs.ScriptedClient()
    again = run(tmp_path, plan, client)
    assert (again.run, client.calls) == (first.run, 0)
    assert results(again) == results(first)


def test_a_score_never_reuses_anything(tmp_path: Path):
    """Purpose ``score`` makes a run of its own each time, for both arms."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], purpose="score")
    first, client = run(tmp_path, plan), stubs.ScriptedClient()
    second = run(tmp_path, plan, client)
    assert first.run != second.run
    assert client.calls == 4 * (stubs.LOOKS + 1)


def test_a_test_side_case_needs_the_right_process(tmp_path: Path):
    """A process without a permitted role cannot play held-out incidents."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1", side="test")])
    with pytest.raises(SplitViolation):
        run(tmp_path, plan)


def test_a_token_cap_stops_cleanly(tmp_path: Path):
    """What is in flight becomes invalid(cap), the rest is absent, and rows are kept."""
    cases = [stubs.case(tmp_path, f"i-{n}") for n in range(6)]
    client = stubs.ScriptedClient()
    plan = stubs.plan_of(cases, repeats=1, max_invalid=1.0)
    result = run(tmp_path, plan, client, caps=Caps(max_tokens=1500))
    assert result.absent > 0
    assert {key[1] for key in results(result)} <= {"", "cap"}
    assert results(result)["invalid", "cap"] > 0
    assert 1500 <= client.calls * 110 <= 1500 + 3 * 110
    with Ledger.open(stubs.settings_of(tmp_path).ledger, read_only=True) as ledger:
        assert q.run(ledger, result.run).status == "capped"


def test_a_usd_cap_counts_what_the_job_spent_before(tmp_path: Path):
    """A second run of the same job starts with what the first one cost."""
    first = stubs.plan_of([stubs.case(tmp_path, "i-1")], job="j", repeats=1)
    run(tmp_path, first, caps=Caps(max_usd=0.10))
    second = stubs.plan_of([stubs.case(tmp_path, "i-2")], job="j", repeats=1, max_invalid=1.0)
    result = run(tmp_path, second, caps=Caps(max_usd=0.08))
    assert result.absent == 2


def test_a_usd_cap_with_an_unknown_price_stops_at_once(tmp_path: Path):
    """Unknown is not zero: a cap in USD that cannot be kept ends the run."""
    cases = [stubs.case(tmp_path, f"i-{n}", "priceless") for n in range(4)]
    client = stubs.ScriptedClient()
    result = run(tmp_path, stubs.plan_of(cases, concurrency=1), client, caps=Caps(max_usd=5.0))
    assert client.calls == 1
    assert results(result) == {("invalid", "cap"): 1}
    assert result.absent == 15


def test_a_seconds_cap_stops_too(tmp_path: Path):
    """Nothing starts once the seconds are over."""
    result = run(tmp_path, stubs.plan_of([stubs.case(tmp_path, "i-1")]), caps=Caps(max_seconds=0.0))
    assert (len(result.outcomes), result.absent) == (0, 4)


def test_without_a_cap_nothing_is_absent(tmp_path: Path):
    """The negative control of the caps."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")])
    assert run(tmp_path, plan, caps=Caps(max_tokens=10**9, max_usd=99.0)).absent == 0


def test_a_refused_key_ends_the_run_early(tmp_path: Path):
    """Nobody wants a thousand 401s."""
    cases = [stubs.case(tmp_path, f"i-{n}", "key") for n in range(20)]
    client = stubs.ScriptedClient()
    result = run(tmp_path, stubs.plan_of(cases), client)
    assert client.calls <= 6
    assert result.absent >= 74


def test_progress_counts_slots_and_ends_complete(tmp_path: Path):
    """Each settled slot is reported once; cost and ETA are there."""
    seen: list[Any] = []
    cases = [stubs.case(tmp_path, "i-1", "down1"), stubs.case(tmp_path, "i-2", "wrong")]
    run(tmp_path, stubs.plan_of(cases), on_progress=seen.append)
    last = seen[-1]
    assert (last.done, last.total, last.passed, last.failed, last.invalid) == (8, 8, 4, 4, 0)
    assert last.in_flight == 0
    assert last.usd == pytest.approx(8 * 0.04 + 4 * 0.01)
    assert seen[0].eta_seconds is None
    assert last.eta_seconds == 0
    assert [one.done for one in seen] == sorted(one.done for one in seen)


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """When landing fails the run ends with StoreError; once there is space it is resumed."""
    import heldout.run.player as player

    plan = stubs.plan_of([stubs.case(tmp_path, "i-1"), stubs.case(tmp_path, "i-2")])
    real, landed = player.land, []

    def land(path: Path, text: str) -> None:
        if len(landed) >= 3:
            raise StoreError("a finished investigation could not be written (No space left)")
        real(path, text)
        landed.append(path)

    monkeypatch.setattr(player, "land", land)
    client = stubs.ScriptedClient()
    with pytest.raises(StoreError, match="No space"):
        run(tmp_path, plan, client)
    monkeypatch.setattr(player, "land", real)
    again = stubs.ScriptedClient()
    result = run(tmp_path, plan, again)
    assert results(result) == {("pass", ""): 8}
    assert client.calls + again.calls == 8 * (stubs.LOOKS + 1), "no reply was paid for twice"


def test_a_missing_key_begins_no_run(tmp_path: Path):
    """When the client cannot be opened nothing is written down."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], model="openai/fake")
    settings = stubs.settings_of(tmp_path)
    with Ledger.open(settings.ledger) as ledger:
        with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
            asyncio.run(play(plan, ledger, settings, interface=stubs.StubInterface()))
        assert q.runs(ledger) == []


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (MemoryError("full"), ("invalid", "sandbox")),
        (OSError(24, "too many open files"), ("invalid", "sandbox")),
        (ZeroDivisionError("a bug of the loop"), ("fail", "")),
    ],
)
def test_a_machine_that_runs_out_is_nobodys_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, result: tuple[str, str]
):
    """Out of memory or files is invalid with its reason; any other crash of the loop is a fail."""

    async def broken(*args: Any, **kwargs: Any) -> Any:
        raise error

    monkeypatch.setattr("heldout.agent.investigate", broken)
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], repeats=1)
    assert set(results(run(tmp_path, plan))) == {result}
