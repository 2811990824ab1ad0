"""Whether a pass rate moved on the same incidents: the exact test, and how much it can see."""

from __future__ import annotations

import random

import pytest

from heldout.stats import Stratum, noticeable_change, signed_rank, stratified_exact


def test_known_values():
    """One incident is Fisher's exact test; two alike multiply their ways."""
    from scipy.stats import fisher_exact

    for table in ((0, 3, 12, 12), (5, 9, 20, 24), (7, 7, 3, 9)):
        passed, n, passed_earlier, n_earlier = table
        fisher = fisher_exact(
            [[passed, n - passed], [passed_earlier, n_earlier - passed_earlier]]
        ).pvalue
        assert stratified_exact([Stratum(*table)]) == pytest.approx(fisher)
    assert stratified_exact([Stratum(0, 1, 1, 1)]) == 1.0
    assert stratified_exact([Stratum(0, 1, 1, 1)] * 2) == pytest.approx(0.5)
    assert stratified_exact([]) == 1.0


def test_an_incident_that_always_passes_says_nothing():
    """Agreement adds no evidence; it is the incidents that differ that count."""
    moved = [Stratum(0, 3, 6, 6)] * 2
    steady = [Stratum(3, 3, 6, 6)] * 20
    assert stratified_exact(moved + steady) == pytest.approx(stratified_exact(moved))


def test_counts_that_cannot_be_are_refused():
    """More passes than runs is a mistake of the caller."""
    with pytest.raises(ValueError, match="passed <= runs"):
        stratified_exact([Stratum(4, 3, 0, 0)])


def test_false_alarms_and_power_are_what_is_said():
    """Of unchanged models at most the stated share alarms; a fall of the stated size is seen."""
    dice, rates = random.Random(7), [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.5, 0.4, 0.9, 0.8]

    def week(fall: float, earlier: int = 12) -> list[Stratum]:
        def hits(rate: float, n: int) -> int:
            return sum(dice.random() < rate for _ in range(n))

        return [Stratum(hits(max(0, r - fall), 3), 3, hits(r, earlier), earlier) for r in rates]

    alpha = 0.05
    alarms = [stratified_exact(week(0.0)) <= alpha for _ in range(600)]
    assert sum(alarms) / 600 < alpha + 0.02
    seen = noticeable_change(week(0.0), alpha)
    assert 0.1 < seen < 0.4
    found = [stratified_exact(week(seen)) <= alpha for _ in range(300)]
    assert 0.6 < sum(found) / 300 < 0.95
    assert noticeable_change([], alpha) == 1.0


def test_signed_ranks_see_what_all_incidents_share():
    """The same step in every incident is found, a step this way and that is not."""
    assert signed_rank([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) < 0.0033
    assert signed_rank([1, -2, 3, -4, 5, -6]) > 0.5
    assert signed_rank([0, 0, 0]) == 1.0
