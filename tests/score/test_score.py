"""One score from the budget of looks to the stored result, with a model in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from heldout.canaries import canary_hash
from heldout.errors import (
    CanaryFound,
    LooksExhausted,
    ProviderRefused,
    ProviderUnavailable,
    UsageError,
)
from heldout.report import suites
from heldout.score import endpoint_hash, read_score
from heldout.store import queries


def helped(incident: str, hinted: bool, seed: int) -> bool:
    """The hint solves every trap but two; controls are always solved."""
    return incident.startswith("calm") or incident < "trap-02" or (hinted and incident < "trap-09")


def test_a_gain_is_found_and_kept(bench: Any, make_actor: Any):
    """7 fixed and none broken of 10: a gain, stored so that it reads back the same."""
    score = bench.score(make_actor(helped))
    assert score.outcome == "gain"
    assert (score.traps.before.solved_count, score.traps.after.solved_count) == (2, 9)
    assert (score.traps.count("fixed"), score.traps.count("broken")) == (7, 0)
    assert score.traps.p == pytest.approx(2 / 2**7)
    assert score.p_adjusted == score.traps.p
    assert score.harm.verdict == "not shown"
    assert score.harm.upper == pytest.approx(1 - 0.05**0.25)
    row = queries.scores(bench.ledger)[0]
    assert row.outcome == "gain"
    assert read_score(row.result) == score
    assert "gain" in score.verdict().lower()


def test_the_noop_arm_shows_noise_and_has_its_own_seeds(bench: Any, make_actor: Any):
    """Before and after share seeds; the no-op has others, so seed-driven luck shows up in it."""
    lucky = make_actor(lambda incident, hinted, seed: seed % 2 == 0)
    score = bench.score(lucky)
    assert score.traps.count("fixed") == score.traps.count("broken") == 0
    noop = score.arms["noop"]
    assert noop.count("fixed") + noop.count("broken") > 0
    by_arm = {hinted: {s for _, h, s in lucky.asked if h == hinted} for hinted in (True, False)}
    assert by_arm[True] < by_arm[False]
    assert len(by_arm[False]) == 2 * len(by_arm[True]) == 28


def test_arms_are_interleaved(bench: Any, make_actor: Any):
    """Neither arm is played before the other: a drift of the provider meets both."""
    actor = make_actor(helped)
    bench.score(actor)
    hinted = [place for place, (_, h, _) in enumerate(actor.asked) if h]
    middle = len(actor.asked) / 2
    early = sum(place < middle for place in hinted)
    assert 0.3 < early / len(hinted) < 0.7


def test_the_endpoint_and_the_looks_are_there_before_the_first_call(bench: Any, make_actor: Any):
    """When the model is first asked, endpoint, its hash and every look stand in the ledger."""
    seen: list[Any] = []

    def peek(incident: str, hinted: bool) -> None:
        if not seen:
            seen.append(
                (queries.scores(bench.ledger)[0], queries.looks(bench.ledger, "openai/actor@low"))
            )

    score = bench.score(make_actor(helped, fail=peek))
    row, looks = seen[0]
    assert row.outcome is None
    assert row.result is None
    assert row.endpoint_hash == endpoint_hash(row.endpoint) == score.endpoint_hash
    assert len(looks) == 14
    assert row.endpoint["primary"].startswith("share of trap incidents")
    assert row.endpoint["arms"]["noop"] == row.endpoint["arms"]["before"]
    assert row.endpoint["seeds"]["noop"] != row.endpoint["seeds"]["before"]
    assert len(row.endpoint["traps"]) == 10


def test_looks_are_counted_adjusted_and_run_out(bench: Any, make_actor: Any):
    """The second look doubles p; the third is refused; another model has looks of its own."""
    bench.score(make_actor(helped))
    second = bench.score(make_actor(helped))
    assert second.looks.number == 2
    assert second.looks.left == 0
    assert second.p_adjusted == pytest.approx(2 * second.traps.p)
    asked = make_actor(helped)
    with pytest.raises(LooksExhausted) as caught:
        bench.score(asked)
    assert caught.value.exit_code == 3
    assert asked.asked == []
    assert max(queries.looks(bench.ledger, "openai/actor@low").values()) == 2
    assert bench.score(make_actor(helped), model="openai/other").looks.number == 1


def test_a_larger_budget_resets_nothing(bench: Any, make_actor: Any):
    """Raising the budget allows more looks and still counts the old ones."""
    bench.score(make_actor(helped))
    bench.score(make_actor(helped))
    wider = replace(bench.settings, score=bench.settings.score.model_copy(update={"looks": 9}))
    third = bench.score(make_actor(helped), settings=wider)
    assert third.looks.number == 3
    assert third.p_adjusted == pytest.approx(3 * third.traps.p)


def test_appended_incidents_stand_apart_and_reset_nothing(
    bench: Any, make_actor: Any, new_case: Any
):
    """New incidents are fresh, the old ones keep their count, and exhausted ones can be left out."""
    bench.score(make_actor(helped))
    more = tuple(new_case(bench.settings.root, f"trap-1{n}", "trap") for n in range(3))
    grown = bench.cases + more
    second = bench.score(make_actor(lambda *_: True), cases=grown)
    assert second.looks.number == 2
    assert second.looks.fresh == ("trap-10", "trap-11", "trap-12")
    assert second.fresh is not None
    assert second.fresh.paired == 3
    with pytest.raises(LooksExhausted):
        bench.score(make_actor(helped), cases=grown)
    third = bench.score(make_actor(helped), cases=grown, skip_exhausted=True)
    assert sorted(third.endpoint["traps"]) == ["trap-10", "trap-11", "trap-12"]
    assert third.endpoint["excluded"]["trap-00"] == "opened 2 times"


def test_a_simulated_models_gain_is_a_mechanism_shown(bench: Any, make_actor: Any):
    """The same counts with a simulated model never carry the word gain."""
    score = bench.score(make_actor(helped), model="sim/anchored@low")
    assert score.outcome == "mechanism shown"
    assert score.evidence.model_class == "mechanism test"
    assert score.evidence.sentence().startswith("Mechanism test")
    assert "gain" not in score.verdict().split(":")[0].lower()


def test_evidence_names_where_incidents_come_from(bench: Any, make_actor: Any, new_case: Any):
    """Grafted, outside and reconstructed incidents are counted apart in the first line."""
    more = (
        new_case(bench.settings.root, "trap-20", "trap", "overlay"),
        new_case(bench.settings.root, "trap-21", "trap", "recorded"),
        new_case(bench.settings.root, "trap-22", "trap", "reconstructed"),
    )
    sentence = bench.score(make_actor(helped), cases=bench.cases + more).evidence.sentence()
    assert (
        "14 made by our own generator, 1 grafted on an imported topology, 1 from outside, "
        "1 reconstructed from public descriptions" in sentence
    )


def test_a_reconstructed_suite_is_told_fault_by_fault(bench: Any, make_actor: Any, new_case: Any):
    """Which parts of the answer held, by arm, of the suite's cases alone; others are never named."""
    case = new_case(bench.settings.root, "trap-22", "trap", "reconstructed")
    case = replace(case, group="sregym-lite/wrong_dns_policy")
    score = bench.score(make_actor(helped), cases=(*bench.cases, case))
    (row,) = score.faults
    assert (row.suite, row.fault, row.is_fault) == ("sregym-lite", "wrong_dns_policy", True)
    assert set(row.arms) >= {"before", "after"}
    assert all(one.valid == score.repeats for one in row.arms.values())
    assert read_score(score.plain()).faults == score.faults
    (line,) = suites.lines(score)
    assert line[:4] == ("18", "wrong_dns_policy", "graph", "")
    assert len(line) == len(suites.head(score))


def test_broken_controls_are_harm_whatever_the_traps_say(bench: Any, make_actor: Any):
    """Seven traps fixed do not make up for controls that the new brain breaks."""

    def greedy(incident: str, hinted: bool, seed: int) -> bool:
        return not hinted if incident.startswith("calm") else hinted

    score = bench.score(make_actor(greedy))
    assert score.harm.verdict == "harm"
    assert score.outcome == "harm"


def test_low_coverage_is_indecisive(bench: Any, make_actor: Any):
    """When the provider fails for a fifth of one arm, nothing is decided and reasons are counted."""

    def flaky(incident: str, hinted: bool) -> Exception | None:
        return ProviderRefused("no") if hinted and incident in ("trap-03", "trap-04") else None

    score = bench.score(make_actor(helped, fail=flaky))
    assert score.outcome == "indecisive"
    assert score.traps.named("unpaired") == ("trap-03", "trap-04")
    assert score.sides["after"].invalid == {"provider_refused": 2}
    assert score.traps.worst.fixed == 5
    assert "Coverage is 80 %" in score.why


def test_another_served_model_is_indecisive(bench: Any, make_actor: Any):
    """A provider that changes the model midway decides nothing."""
    actor = make_actor(helped)

    def drift(incident: str, hinted: bool) -> None:
        actor.served = "actor-1" if len(actor.asked) < 20 else "actor-2"

    actor.fail = drift
    score = bench.score(actor)
    assert score.outcome == "indecisive"
    assert "actor-1, actor-2" in score.why


def test_nothing_earlier_is_reused(bench: Any, make_actor: Any):
    """A second score of the same brains asks the model for every slot of every arm again."""
    first, second = make_actor(helped), make_actor(helped)
    bench.score(first)
    bench.score(second)
    assert len(first.asked) == len(second.asked) == 14 * 3
    runs = queries.runs(bench.ledger, purpose="score")
    assert len({run.run for run in runs}) == 4


def test_placebo_and_format_arms_are_played_beside(bench: Any, make_actor: Any):
    """The two further arms stand in the same plan; neither holds the hint."""
    score = bench.score(make_actor(helped), arms=("noop", "placebo", "format"))
    assert set(score.arms) == {"noop", "placebo", "format"}
    assert all(comparison.count("fixed") == 0 for comparison in score.arms.values())
    assert score.outcome == "gain"


def test_a_score_that_got_no_answer_can_be_gone_on_with(bench: Any, make_actor: Any):
    """With a wrong key nothing is decided; the same look goes on once the key is right."""
    refused = make_actor(helped, fail=lambda *_: ProviderRefused("401"))
    with pytest.raises(ProviderUnavailable, match="--resume"):
        bench.score(refused)
    opened = queries.scores(bench.ledger)[0]
    assert opened.outcome is None
    score = bench.score(make_actor(helped), resume=opened.score)
    assert score.score == opened.score
    assert score.outcome == "gain"
    assert score.looks.number == 1
    assert max(queries.looks(bench.ledger, "openai/actor@low").values()) == 1
    with pytest.raises(UsageError, match="finished"):
        bench.score(make_actor(helped), resume=opened.score)


def test_a_resumed_score_keeps_its_endpoint(bench: Any, make_actor: Any):
    """Other repeats, incidents or brains than those written down are refused on resuming."""
    with pytest.raises(ProviderUnavailable):
        bench.score(make_actor(helped, fail=lambda *_: ProviderRefused("401")))
    name = queries.scores(bench.ledger)[0].score
    more = replace(bench.settings, score=bench.settings.score.model_copy(update={"repeats": 5}))
    with pytest.raises(UsageError, match="another endpoint"):
        bench.score(make_actor(helped), resume=name, settings=more)


def test_gain_by_fault_and_incident_rows_hold_no_secret(bench: Any, make_actor: Any):
    """Breakdowns add up; what is stored names incidents by id and nothing of alert or truth."""
    score = bench.score(make_actor(helped))
    faults = [row for row in score.breakdown if row.kind == "fault"]
    assert {row.name: (row.incidents, row.fixed) for row in faults} == {
        "pool": (5, 3),
        "quota": (5, 4),
    }
    assert not any(row.seen_in_train for row in faults)
    text = json.dumps(score.plain())
    for secret in ("secret alert words", "canary", "e-good", "c-old", "the limit was lowered"):
        assert secret not in text
    assert [row.incident for row in score.incidents if not row.trap] == [
        f"calm-0{n}" for n in range(4)
    ]


def test_progress_is_summed_over_arms(bench: Any, make_actor: Any):
    """The last word of progress counts every slot of every arm."""
    bench.score(make_actor(helped))
    played = [one for one in bench.progress if one.stage == "play"]
    assert (played[-1].done, played[-1].total) == (42, 42)
    assert bench.progress[-1].stage == "done"


def test_no_trap_left_is_refused_before_anything_is_opened(bench: Any, make_actor: Any):
    """Excluding every trap leaves no primary endpoint, so nothing is written."""
    names = tuple(case.incident.id for case in bench.cases if case.is_trap)
    with pytest.raises(UsageError, match="no trap"):
        bench.score(make_actor(helped), exclude=names)
    assert queries.scores(bench.ledger) == []


def test_a_canary_in_what_was_played_ends_the_score(
    bench: Any, make_actor: Any, monkeypatch: pytest.MonkeyPatch
):
    """A score over prompts that leak is worth nothing: it ends with an error, its look counted."""
    said = {canary_hash("submit_diagnosis"): "test"}
    monkeypatch.setattr("heldout.score.job.canary_hashes", lambda *_: said)
    with pytest.raises(CanaryFound, match="of score"):
        bench.score(make_actor(helped))
    row = queries.scores(bench.ledger)[0]
    assert row.outcome is None
    assert len(queries.looks(bench.ledger, "openai/actor@low")) == 14
