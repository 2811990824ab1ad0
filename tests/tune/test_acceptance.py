"""The acceptance rule under noise: what it lets through, and how often it errs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.tune.acceptance import Pairs, effect, judge_guard, judge_target, merge, one_sided
from heldout.tune.acceptance.looks import ALPHA, bound

LOOKS, REPEATS = 3, 2


def _draw(rng: np.random.Generator, rates: list[tuple[float, float]]) -> Pairs:
    return {
        f"i{number}": tuple(
            (bool(rng.random() < before), bool(rng.random() < after)) for _ in range(REPEATS)
        )
        for number, (before, after) in enumerate(rates)
    }


def looked(rng: np.random.Generator, rates: list[tuple[float, float]], judge: Any) -> bool:
    """Whether a judge accepts within its looks; incidents are (pass rate before, after)."""
    seen: list[Pairs] = []
    for look in range(1, LOOKS + 1):
        seen.append(_draw(rng, rates))
        ruling = judge(merge(seen), look=look, looks=LOOKS).ruling
        if ruling != "indecisive":
            return bool(ruling == "accept")
    return False


def share_accepted(
    target: list[tuple[float, float]], guard: list[tuple[float, float]], draws: int = 2000
) -> float:
    """How often a candidate with these effects is accepted."""
    rng = np.random.default_rng(7)
    return (
        sum(
            looked(rng, target, judge_target) and (not guard or looked(rng, guard, judge_guard))
            for _ in range(draws)
        )
        / draws
    )


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.35, 0.5, 0.64, 0.8])
@pytest.mark.parametrize("size", [1, 3, 6, 10])
def test_an_edit_without_effect_is_seldom_accepted(rate: float, size: int) -> None:
    """At most ALPHA of no-effect edits pass, whatever the incidents' pass rates (peers: 34 %)."""
    assert share_accepted([(rate, rate)] * size, []) <= ALPHA


def test_no_effect_with_unlike_incidents_is_seldom_accepted() -> None:
    """Incidents of different difficulty change nothing: pairs are compared within an incident."""
    mixed = [(0.05, 0.05), (0.3, 0.3), (0.5, 0.5), (0.5, 0.5), (0.7, 0.7), (0.9, 0.9)]
    assert share_accepted(mixed, []) <= ALPHA


def test_a_harmful_edit_is_never_accepted() -> None:
    """An edit that breaks what passed falls, also when it fixes its whole target."""
    assert share_accepted([(0.2, 0.1)] * 6, [(0.95, 0.4)] * 6) == 0.0
    assert share_accepted([(0.05, 0.95)] * 6, [(0.95, 0.3)] * 6) == 0.0
    assert share_accepted([(0.05, 0.95)] * 6, [(1.0, 1.0)] * 4 + [(1.0, 0.0)]) == 0.0


def test_a_real_fix_is_found() -> None:
    """Negative control of the rule: fixing the cluster, or a third of it, is accepted."""
    clean = [(0.97, 0.97)] * 6
    assert share_accepted([(0.05, 0.95)] * 6, clean) >= 0.95
    third = [(0.05, 0.95)] * 2 + [(0.05, 0.05)] * 4
    assert share_accepted(third, clean) >= 0.8
    assert share_accepted([(0.0, 1.0)], clean) >= 0.8


def test_indecisive_buys_repeats_and_then_rejects() -> None:
    """Two fixed pairs are too few at first, and still too few at the last look."""
    pairs: Pairs = {"a": ((False, True), (False, True)), "b": ((False, False),) * 2}
    assert judge_target(pairs, look=1, looks=3).ruling == "indecisive"
    assert judge_target(pairs, look=3, looks=3).ruling == "reject"
    sure: Pairs = {"a": ((False, True),) * 6}
    assert judge_target(sure, look=3, looks=3).ruling == "accept"


def test_no_sign_of_a_fix_is_rejected_at_once() -> None:
    """Repeats are not spent on a candidate that fixed nothing."""
    assert judge_target({"a": ((False, False),) * 2}, look=1, looks=3).ruling == "reject"
    assert judge_target({"a": ()}, look=1, looks=3).ruling == "reject"


def test_a_broken_incident_needs_more_looks() -> None:
    """One incident that wobbles is measured again; broken for good, or by many pairs, it counts."""
    wobble: Pairs = {"c": ((True, True), (True, False))}
    assert judge_guard(wobble, look=1, looks=3).ruling == "indecisive"
    assert judge_guard(wobble, look=3, looks=3).ruling == "reject"
    assert judge_guard({"c": ((True, True),) * 2}, look=1, looks=3).ruling == "accept"
    assert judge_guard({"c": ((True, False),) * 6}, look=1, looks=3).ruling == "reject"


def test_one_lucky_incident_of_many_is_not_enough() -> None:
    """With four or more incidents targeted, two of them must be better."""
    target: Pairs = {"a": ((False, True),) * 6, "b": ((False, False),), "c": (), "d": ()}
    assert judge_target(target, look=3, looks=3).ruling == "reject"


_pairs = st.dictionaries(
    st.sampled_from("abcdef"),
    st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6).map(tuple),
    max_size=6,
)


@given(_pairs, st.integers(1, 3))
def test_every_ruling_follows_from_its_counts(pairs: Pairs, look: int) -> None:
    """Acceptance implies a lead and a small p on the target, and nothing broken on the guard."""
    seen = effect(pairs)
    target = judge_target(pairs, look=look, looks=3)
    guard = judge_guard(pairs, look=look, looks=3)
    if target.ruling == "accept":
        assert seen.fixed > seen.broken
        assert target.p <= bound(3) <= ALPHA
    if guard.ruling == "accept":
        assert seen.broken_incidents == 0
    for decision in (target, guard):
        assert decision.reason
        assert decision.ruling != "indecisive" or look < 3


@given(_pairs, _pairs)
def test_merging_adds_up(one: Pairs, two: Pairs) -> None:
    """Counts over two looks are the sums of both."""
    whole = effect(merge([one, two]))
    assert whole.pairs == effect(one).pairs + effect(two).pairs
    assert whole.fixed == effect(one).fixed + effect(two).fixed
    assert whole.broken == effect(one).broken + effect(two).broken


def test_one_sided_p_is_the_binomial_tail() -> None:
    """Six of six is 1/64; a tie or less proves nothing."""
    assert one_sided(6, 0) == pytest.approx(1 / 64)
    assert one_sided(3, 3) == 1.0
    assert one_sided(0, 5) == 1.0
