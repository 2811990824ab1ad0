"""The rule by evidence: what it buys, where it stops, and how often it errs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.behaviour import ProbeOptions
from heldout.canaries import Watch
from heldout.store.queries import edit_events
from heldout.tune import TuneOptions, tune
from heldout.tune.acceptance import (
    Batch,
    EvidenceGuard,
    EvidenceTarget,
    LooksGuard,
    Purchase,
    Question,
)

TARGET = EvidenceTarget(batch=6, repeats=2, most=240)
GUARD = EvidenceGuard(batch=6, most=480)
OPTIONS = TuneOptions(job="tune-noise", probes=ProbeOptions(rename=0), candidates=3)
Draw = Callable[[str], tuple[bool, bool]]


def names(count: int) -> tuple[str, ...]:
    """Incidents of a batch."""
    return tuple(f"i{number:02}" for number in range(count))


def decided(test: Question, incidents: tuple[str, ...], draw: Draw) -> tuple[str, Batch]:
    """A batch to its decision; every "indecisive" must be followed by a purchase."""
    batch = Batch(incidents)
    ruling = "indecisive"
    while ruling == "indecisive":
        purchase = test.buy(batch)
        assert purchase is not None
        batch.add(
            purchase,
            {one: tuple(draw(one) for _ in range(purchase.repeats)) for one in purchase.incidents},
        )
        ruling = test.judge(batch).ruling
    return ruling, batch


def noisy(seed: int, before: dict[str, float], after: dict[str, float]) -> Draw:
    """Pairs with these chances to pass."""
    rng = np.random.default_rng(seed)
    return lambda one: (bool(rng.random() < before[one]), bool(rng.random() < after[one]))


def test_a_large_effect_is_found_in_one_look() -> None:
    """Six of six fixed at once: twelve investigations, as few as can show it."""
    ruling, batch = decided(TARGET, names(6), lambda _: (False, True))
    assert (ruling, batch.spent, len(batch.looks)) == ("accept", 12, 1)


def test_nothing_seen_twice_is_rejected() -> None:
    """Without a lead each incident is played twice, and no more."""
    ruling, batch = decided(TARGET, names(6), lambda _: (False, False))
    assert (ruling, batch.spent) == ("reject", 24)


def test_a_lead_buys_repeats_where_it_shows() -> None:
    """Two fixed incidents of six: the half with them is played again until it is sure."""
    ruling, batch = decided(TARGET, names(6), lambda one: (False, one in {"i01", "i03"}))
    assert ruling == "accept"
    assert {"i01", "i03"} <= set(batch.purchases[1].incidents)
    assert len(batch.purchases[1].incidents) == 3
    assert batch.purchases[1].repeats == 2


def test_a_large_cluster_is_seen_before_it_is_repeated() -> None:
    """Unseen incidents come first, no more than two looks' worth of them."""
    _, batch = decided(TARGET, names(30), lambda _: (False, False))
    assert batch.purchases[0].incidents == names(6)
    assert batch.purchases[1].incidents == names(12)[6:]
    assert set().union(*(one.incidents for one in batch.purchases)) == set(names(12))


def test_one_incident_of_many_is_not_enough() -> None:
    """However sure: of six and more targeted incidents two must be better."""
    ruling, batch = decided(TARGET, names(6), lambda one: (False, one == "i00"))
    assert ruling == "reject"
    assert "alone" in TARGET.judge(batch).reason
    assert batch.spent < TARGET.most / 2, "repeats were bought that could not change it"
    ruling, _ = decided(TARGET, names(1), lambda _: (False, True))
    assert ruling == "accept"


def test_hopeless_is_dropped_before_the_cap() -> None:
    """One lucky pair does not buy repeats for ever."""
    given_once = iter([True])
    ruling, batch = decided(TARGET, names(1), lambda _: (False, next(given_once, False)))
    assert ruling == "reject"
    assert batch.spent < TARGET.most / 2


@pytest.mark.parametrize("most", [12, 14, 24, 50])
def test_the_cap_holds_and_ends_in_a_rejection(most: int) -> None:
    """A candidate that stays undecided costs at most the cap; the reason says so."""
    test = EvidenceTarget(6, 2, most)
    leads = {"i00": 0.35, "i01": 0.35}
    before, after = dict.fromkeys(names(4), 0.1), {**dict.fromkeys(names(4), 0.1), **leads}
    for seed in range(30):
        ruling, batch = decided(test, names(4), noisy(seed, before, after))
        assert batch.spent <= most
        assert ruling == "accept" or test.judge(batch).ruling == "reject"
    ruling, batch = decided(EvidenceTarget(6, 2, 12), names(6), lambda one: (False, one > "i03"))
    assert (ruling, batch.spent) == ("reject", 12)
    assert "indecisive after 12" in EvidenceTarget(6, 2, 12).judge(batch).reason


def test_invalid_pairs_are_not_bought_for_ever() -> None:
    """An incident whose pairs are all invalid counts as played."""
    batch = Batch(names(2))
    for _ in range(60):
        purchase = TARGET.buy(batch)
        if purchase is None:
            break
        batch.add(purchase, {one: ((False, True),) * (one == "i00") for one in purchase.incidents})
        if TARGET.judge(batch).ruling != "indecisive":
            break
    assert TARGET.judge(batch).ruling in {"accept", "reject"}
    lost = Batch(names(2))
    lost.add(TARGET.buy(lost), {})  # type: ignore[arg-type]
    assert TARGET.judge(lost).ruling == "reject"


def test_what_passed_must_be_shown_to_pass_still() -> None:
    """18 clean pairs on other incidents each, or repeats where few are solved; breaks reject."""
    ruling, batch = decided(GUARD, names(40), lambda _: (True, True))
    assert (ruling, batch.spent, len(batch.purchases[0].incidents)) == ("accept", 36, 18)
    ruling, batch = decided(GUARD, names(4), lambda _: (True, True))
    assert (ruling, batch.purchases[0].repeats) == ("accept", 5)
    assert decided(GUARD, names(18), lambda one: (True, one > "i08"))[0] == "reject"


def _share(test: Question, count: int, before: float, after: float, draws: int = 300) -> float:
    one, two = dict.fromkeys(names(count), before), dict.fromkeys(names(count), after)
    return (
        sum(decided(test, names(count), noisy(s, one, two))[0] == "accept" for s in range(draws))
        / draws
    )


def test_mild_harm_seldom_gets_through() -> None:
    """0.95 to 0.80 on what passed; the rule by looks lets a fifth and more through."""
    assert _share(GUARD, 30, 0.95, 0.80) <= 0.10
    assert _share(LooksGuard(6, 2, 3), 30, 0.95, 0.80) > 0.20
    assert _share(GUARD, 30, 0.97, 0.97) >= 0.90


def test_incidents_that_broke_are_played_again() -> None:
    """Two of thirty break for good: the mean holds, and yet it is found and rejected."""
    ruling, batch = decided(GUARD, names(30), lambda one: (True, one not in {"i03", "i07"}))
    assert ruling == "reject"
    assert "broke" in GUARD.judge(batch).reason
    assert {"i03", "i07"} <= set(batch.purchases[1].incidents)
    assert len(batch.purchases[1].incidents) == 6
    spared = decided(GUARD, names(30), lambda one: (True, one not in {"i23", "i27"}))
    assert spared[0] == "accept", "what the first look does not play is not seen: said in the docs"


def _moved(seed: int, size: int, step: float) -> tuple[dict[str, float], dict[str, float]]:
    """Chances of incidents that fail mostly, each up or down by a step for good."""
    rng = np.random.default_rng(seed)
    before = {one: float(rng.choice((0.15, 0.3, 0.5))) for one in names(size)}
    return before, {
        one: min(1.0, max(0.0, rate + step * rng.choice((-1, 1)))) for one, rate in before.items()
    }


@pytest.mark.parametrize("size", [2, 4, 12])
def test_an_edit_that_only_moves_incidents_is_seldom_accepted(size: int) -> None:
    """15 points up or down for good, so that repeats agree: at most 5 %, with room for the draws."""
    accepted = 0
    for seed in range(400):
        before, after = _moved(seed, size, 0.15)
        accepted += decided(TARGET, names(size), noisy(seed, before, after))[0] == "accept"
    assert accepted / 400 <= 0.06


def test_moves_that_are_large_are_effects() -> None:
    """The negative control: moved by 45 points, four incidents are often taken for fixed."""
    accepted = 0
    for seed in range(100):
        before, after = _moved(seed, 4, 0.45)
        accepted += decided(TARGET, names(4), noisy(seed, before, after))[0] == "accept"
    assert accepted / 100 > 0.20


def _confirmed(seed: int, before: dict[str, float], after: dict[str, float], held: int) -> bool:
    """The last measurement of a job: what was aimed at first, then what passed."""
    rule = OPTIONS.confirmation(len(before) - held, held)
    incidents = tuple(before)
    draw = noisy(seed, before, after)
    for question, chosen in ((rule.target, incidents[held:]), (rule.guard, incidents[:held])):
        batch = Batch(chosen)
        first = Purchase(chosen, OPTIONS.confirm_repeats)
        batch.add(first, {one: tuple(draw(one) for _ in range(2)) for one in chosen})
        while (ruling := question.judge(batch).ruling) == "indecisive":
            more = question.buy(batch)
            assert more is not None
            batch.add(
                more, {one: tuple(draw(one) for _ in range(more.repeats)) for one in more.incidents}
            )
        if ruling == "reject":
            return False
    return True


def test_what_was_chosen_by_luck_is_not_confirmed() -> None:
    """However edits were picked, without effect 5 % are confirmed; a fix of a part mostly is."""
    rates = dict.fromkeys(names(20), 0.92) | {f"t{number}": 0.25 for number in range(6)}
    assert sum(_confirmed(seed, rates, rates, 20) for seed in range(200)) / 200 <= 0.05
    fixed = {**rates, "t0": 0.9, "t1": 0.9}
    assert sum(_confirmed(seed, rates, fixed, 20) for seed in range(100)) / 100 >= 0.80
    harmed = fixed | dict.fromkeys(names(20), 0.72)
    assert sum(_confirmed(seed, rates, harmed, 20) for seed in range(100)) / 100 <= 0.05


def test_a_net_fix_alone_would_confirm_luck() -> None:
    """The negative control: more fixed than broken pairs is what luck shows in a third of cases."""
    rng = np.random.default_rng(2)
    shown = [rng.binomial(52, 0.7) > rng.binomial(52, 0.7) for _ in range(1000)]
    assert sum(shown) / 1000 > 0.30


@pytest.mark.parametrize("rate", [0.1, 0.35, 0.64])
@pytest.mark.parametrize("size", [1, 4, 12])
def test_an_edit_without_effect_is_seldom_accepted(rate: float, size: int) -> None:
    """At most 5 %, with some room for the draws, although the lead decides what is played."""
    assert _share(TARGET, size, rate, rate) <= 0.06


@given(st.binary(min_size=150, max_size=150), st.data())
def test_any_pairs_end_within_the_cap(pairs: bytes, data: Any) -> None:
    """Whatever comes, it is decided; and what is bought follows from the batch alone."""
    drawn = ((bool(one & 1), bool(one & 2)) for one in pairs)
    size = data.draw(st.integers(1, 14))
    _, batch = decided(TARGET, names(size), lambda _: next(drawn))
    assert batch.spent <= TARGET.most
    again = Batch(names(size))
    for purchase, look in zip(batch.purchases, batch.looks, strict=True):
        assert TARGET.buy(again) == purchase
        again.add(purchase, look)


def _job(project: Any, runs: Any, parts: Any, options: TuneOptions = OPTIONS) -> list[Any]:
    """One sitting of a job; its rows."""

    async def sit(ledger: Any) -> None:
        await tune(
            project.settings, ledger, model="sim/anchored@low", proposer=parts.proposer(),
            cases=project.cases, gate=parts.gate(), interface=parts.interface(),
            options=options, watch=Watch(),
        )  # fmt: skip

    with project.ledger() as ledger:
        try:
            asyncio.run(sit(ledger))
        except parts.killed:
            return []
        return [(row.edit, row.round, row.event, row.detail) for row in edit_events(ledger)]


@pytest.mark.parametrize("kill", [1, 2, 3, 4, 6, 9])
def test_a_job_cut_between_looks_decides_the_same(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, kill: int
) -> None:
    """With noisy runs "indecisive" buys repeats; cut anywhere, the same runs and rulings follow."""
    whole = parts.runs(project.needs, noise=0.12)
    monkeypatch.setattr("heldout.tune.player.play", whole.play)
    wanted = _job(project, whole, parts)
    looks = [row[3]["look"] for row in wanted if row[2] == "screened"]
    assert max(looks) > 1, "no candidate was indecisive, so this shows nothing"
    project.settings.ledger.unlink()

    runs = parts.runs(project.needs, noise=0.12)
    runs.kill_at = kill
    monkeypatch.setattr("heldout.tune.player.play", runs.play)
    assert _job(project, runs, parts) == []
    runs.kill_at = None
    assert _job(project, runs, parts) == wanted
    assert [plan.key() for plan in runs.plans] == [plan.key() for plan in whole.plans]


def test_a_job_can_take_the_rule_by_looks(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting reaches the screen: the same batch with two repeats, at most three times."""
    runs = parts.runs(project.needs)
    monkeypatch.setattr("heldout.tune.player.play", runs.play)
    assert _job(project, runs, parts, replace(OPTIONS, acceptance="looks"))
    screens = [plan for plan in runs.plans if plan.purpose == "screen"]
    assert {plan.repeats for plan in screens} == {2}
    other = parts.runs(project.needs)
    monkeypatch.setattr("heldout.tune.player.play", other.play)
    assert _job(project, other, parts, replace(OPTIONS, job="tune-evidence"))
    assert 1 in {plan.repeats for plan in other.plans if plan.purpose == "screen"}
