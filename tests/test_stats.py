"""Statistics: fixed vectors from the literature and the main seed, and laws that always hold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from heldout.stats import (
    Evidence,
    adjusted_p,
    clopper_pearson,
    cluster_difference,
    cluster_rate,
    harm_lower_bound,
    harm_upper_bound,
    harm_verdict,
    majority,
    mcnemar_exact,
    mcnemar_power,
    minimum_detectable_gain,
    outcome,
    tango_interval,
    wilson,
    worst_case_p,
)

counts = st.integers(0, 60)


@pytest.mark.parametrize(
    ("fixed", "broken", "p"),
    [
        (15, 1, 34 / 65536),
        (2, 0, 0.5),
        (5, 3, 0.7265625),
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (7, 1, 0.0703125),
        (8, 1, 0.0390625),
    ],
)
def test_mcnemar_gives_the_known_values(fixed: int, broken: int, p: float):
    """The vectors of the design and of the optimizer notes come out exactly."""
    assert mcnemar_exact(fixed, broken) == pytest.approx(p, rel=1e-12)


@given(counts, counts)
def test_mcnemar_is_symmetric_and_agrees_with_the_binomial_test(fixed: int, broken: int):
    """Swapping arms changes nothing, and scipy's exact binomial test gives the same p."""
    p = mcnemar_exact(fixed, broken)
    assert 0 < p <= 1
    assert p == mcnemar_exact(broken, fixed)
    if fixed + broken:
        assert p == pytest.approx(binomtest(fixed, fixed + broken).pvalue, rel=1e-9)


def test_mcnemar_refuses_negative_counts():
    """A count below zero is a mistake of the caller, never a p."""
    with pytest.raises(ValueError, match="negative"):
        mcnemar_exact(-1, 2)


def test_mcnemar_stays_exact_for_large_counts():
    """Thousands of flips neither overflow nor turn into NaN."""
    assert 0 < mcnemar_exact(3000, 2800) < 0.01
    assert mcnemar_exact(5000, 5000) == 1.0


def test_wilson_gives_the_published_values():
    """32 of 50 and 46 of 50, the rates of the main seed, and zero of ten."""
    assert wilson(32, 50)[1:3] == pytest.approx((0.50140, 0.75860), abs=1e-4)
    assert wilson(46, 50)[1:3] == pytest.approx((0.81164, 0.96845), abs=1e-4)
    assert wilson(0, 10)[1:3] == pytest.approx((0.0, 0.27753), abs=1e-4)


def test_clopper_pearson_gives_the_published_values():
    """Zero of ten reaches to 30.8 %, five of ten from 18.7 % to 81.3 %."""
    assert clopper_pearson(0, 10)[1:3] == pytest.approx((0.0, 0.30850), abs=1e-4)
    assert clopper_pearson(5, 10)[1:3] == pytest.approx((0.18709, 0.81291), abs=1e-4)


@given(st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_hold_their_value_and_the_exact_one_is_in_zero_to_one(pair: tuple[int, int]):
    """Every interval brackets its rate and mirrors when hits and misses are swapped."""
    hits, n = pair
    for method in (wilson, clopper_pearson):
        value, low, high, _ = method(hits, n)
        assert 0 <= low <= value <= high <= 1
        mirrored = method(n - hits, n)
        assert mirrored.low == pytest.approx(1 - high, abs=1e-9)


def test_no_incidents_means_nothing_is_known():
    """Without data the interval is everything and the value is not a number."""
    for interval in (wilson(0, 0), clopper_pearson(0, 0), cluster_rate([])):
        assert math.isnan(interval.value)
        assert (interval.low, interval.high) == (0, 1)
    assert tango_interval(0, 0, 0)[1:3] == (-1, 1)


@pytest.mark.parametrize("call", [lambda: wilson(3, 2), lambda: clopper_pearson(-1, 2)])
def test_impossible_counts_are_refused(call):
    """More hits than trials cannot be turned into a rate."""
    with pytest.raises(ValueError, match="hits"):
        call()


@pytest.mark.parametrize(
    ("fixed", "broken", "n"), [(1, 7, 21), (1, 0, 44), (40, 20, 160), (15, 1, 50)]
)
def test_tango_solves_the_published_quartic(fixed: int, broken: int, n: int):
    """The limits are roots of the closed form of Yang, Sun & Hardin (2013), found without search."""
    g, d, s = 1.959963984540054**2, fixed - broken, fixed + broken
    roots = np.roots(
        [
            n**2 * (n / g + 1) ** 2,
            -n * d * (n / g + 1) * (4 * n / g + 1),
            2 * n * d**2 * (3 * n / g + 2) / g - n**2 * (s / g + 1),
            n * d * (2 * s / g + 1) - d**3 * (4 * n / g + 1) / g,
            d**2 * (d**2 / g - s) / g,
        ]
    )
    real = sorted(root.real for root in roots if abs(root.imag) < 1e-9)
    assert tango_interval(fixed, broken, n)[1:3] == pytest.approx((real[0], real[-1]), abs=1e-6)


@given(st.tuples(counts, counts, counts).filter(lambda c: sum(c) > 0))
def test_tango_brackets_mirrors_and_never_collapses(cells: tuple[int, int, int]):
    """The interval holds the difference, mirrors when arms swap and always has a width."""
    fixed, broken, same = cells
    n = fixed + broken + same
    value, low, high, _ = tango_interval(fixed, broken, n)
    assert -1 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 1
    assert high - low > 1e-3
    mirrored = tango_interval(broken, fixed, n)
    assert mirrored.low == pytest.approx(-high, abs=1e-6)


def test_tango_approaches_the_wald_interval_with_many_incidents():
    """With thousands of pairs the score interval is the textbook one."""
    fixed, broken, n = 900, 500, 5000
    value, low, high, _ = tango_interval(fixed, broken, n)
    half = 1.96 * math.sqrt(fixed + broken - (fixed - broken) ** 2 / n) / n
    assert (low, high) == pytest.approx((value - half, value + half), abs=5e-4)


def test_cluster_difference_is_the_paired_t_interval():
    """A small example worked by hand: differences 1, 0, 1/3, 2/3 over four incidents."""
    before, after = [0, 1, 1 / 3, 0], [1, 1, 2 / 3, 2 / 3]
    value, low, high, _ = cluster_difference(before, after)
    spread = np.std([1, 0, 1 / 3, 2 / 3], ddof=1) / 2
    assert value == pytest.approx(0.5)
    half = 3.182446 * spread
    assert (low, high) == pytest.approx((0.5 - half, min(1, 0.5 + half)), abs=1e-5)


def test_equal_differences_keep_a_width():
    """Ten incidents that did not move do not prove that none ever will."""
    value, low, high, method = cluster_difference([1.0] * 10, [1.0] * 10)
    assert value == 0
    assert low == pytest.approx(-(1 - 0.025**0.1))
    assert high == -low
    assert method == "zero-event bound"


def test_a_cluster_difference_needs_pairs():
    """Lists of different length are a mistake of the caller."""
    with pytest.raises(ValueError, match="unpaired"):
        cluster_difference([1.0], [])


@given(st.lists(st.sampled_from([0, 1 / 3, 2 / 3, 1]), min_size=1, max_size=40))
def test_cluster_rate_stays_in_range_and_ignores_order(rates: list[float]):
    """The interval lies in 0 to 1, brackets the mean and does not depend on the order."""
    value, low, high, _ = cluster_rate(rates)
    assert -1e-12 <= low <= value + 1e-12
    assert value - 1e-12 <= high <= 1 + 1e-12
    assert cluster_rate(rates[::-1])[1:3] == pytest.approx((low, high))


def test_repeats_of_one_incident_do_not_narrow_the_interval():
    """Three identical repeats per incident carry no more than one: the interval is the same."""
    solved = [1.0] * 6 + [0.0] * 4
    assert cluster_rate(solved).high - cluster_rate(solved).low > 0.6


@given(counts, counts)
def test_worst_case_never_claims_a_gain_without_one(fixed: int, broken: int):
    """Unless more were fixed than broken, the p of a gain is 1."""
    p = worst_case_p(fixed, broken)
    assert p == (mcnemar_exact(fixed, broken) if fixed > broken else 1.0)


@pytest.mark.parametrize(("n", "flips"), [(5, None), (6, 6), (25, 6), (50, 6)])
def test_least_net_flips(n: int, flips: int | None):
    """Six fixed with none broken are the least for p < 0.05; five incidents can show nothing."""
    gain = minimum_detectable_gain(n)
    assert gain.net_flips == flips
    assert str(n) in gain.sentence()


def test_power_is_the_enumerated_sum():
    """The power of a small set equals the sum over every possible table."""
    n, up, down = 9, 0.6, 0.1
    total = 0.0
    for fixed, broken in itertools.product(range(n + 1), repeat=2):
        if fixed + broken <= n and fixed > broken and mcnemar_exact(fixed, broken) < 0.05:
            ways = math.comb(n, fixed) * math.comb(n - fixed, broken)
            total += ways * up**fixed * down**broken * (1 - up - down) ** (n - fixed - broken)
    assert mcnemar_power(n, up, down) == pytest.approx(total, rel=1e-9)


def test_detectable_gain_meets_its_power_and_shrinks_with_incidents():
    """The stated gain has 80 % power, slightly less has not, and more incidents find less."""
    gain = minimum_detectable_gain(50)
    assert gain.gain_at_power is not None
    assert mcnemar_power(50, gain.gain_at_power + 0.02, 0.02) >= 0.8
    assert mcnemar_power(50, gain.gain_at_power, 0.02) < 0.8
    larger = minimum_detectable_gain(200).gain_at_power
    assert larger is not None
    assert larger < gain.gain_at_power


def test_six_incidents_cannot_reach_eighty_percent_power_with_noise():
    """When even fixing everything is not found often enough, the answer is none, not a number."""
    gain = minimum_detectable_gain(6, broken_rate=0.1)
    assert (gain.net_flips, gain.gain_at_power) == (6, None)
    assert "no gain is found" in gain.sentence()


def test_harm_bounds_are_the_rule_of_three():
    """No control broken of n: the bound is 1 - 0.05^(1/n); none looked at: anything is possible."""
    assert harm_upper_bound(0, 30) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert harm_upper_bound(0, 30) == pytest.approx(0.0950, abs=1e-4)
    assert harm_upper_bound(0, 0) == 1
    assert harm_lower_bound(0, 8) == 0


@pytest.mark.parametrize(
    ("fixed", "broken", "n", "verdict"),
    [
        (0, 0, 4, "not shown"),
        (0, 0, 29, "within margin"),
        (0, 3, 4, "harm"),
        (0, 1, 4, "not shown"),
        (3, 3, 4, "not shown"),
        (0, 6, 100, "harm"),
    ],
)
def test_harm_verdicts(fixed: int, broken: int, n: int, verdict: str):
    """Few controls cannot show that nothing is harmed; many unharmed ones can; broken ones count."""
    assert harm_verdict(fixed, broken, n, 0.10) == verdict


@given(st.floats(0, 1), st.integers(1, 20))
def test_adjustment_never_lowers_p(p: float, looks: int):
    """More looks never make a result more convincing, and the first look costs nothing."""
    assert p <= adjusted_p(p, looks) <= 1
    assert adjusted_p(p, 1) == p


def test_adjustment_counts_the_present_look():
    """Zero looks cannot be, since this one counts."""
    with pytest.raises(ValueError, match="looks"):
        adjusted_p(0.5, 0)


GOOD = Evidence(fixed=15, broken=1, paired=50, coverage=1.0)


@pytest.mark.parametrize(
    ("evidence", "word"),
    [
        (GOOD, "gain"),
        (Evidence(2, 0, 50, 1.0), "no gain shown"),
        (Evidence(1, 15, 50, 1.0), "harm"),
        (Evidence(15, 1, 50, 1.0, controls="harm"), "harm"),
        (Evidence(15, 1, 50, 0.8), "indecisive"),
        (Evidence(15, 1, 50, 1.0, same_model=False), "indecisive"),
        (Evidence(0, 0, 0, 1.0), "indecisive"),
        (Evidence(6, 0, 12, 1.0, looks=1), "gain"),
        (Evidence(6, 0, 12, 1.0, looks=2), "no gain shown"),
    ],
)
def test_outcome_words(evidence: Evidence, word: str):
    """Each of the four words, and what takes a gain away: looks, coverage, another model, harm."""
    assert outcome(evidence) == word


@given(st.builds(Evidence, counts, counts, st.just(60), st.just(1.0), st.integers(1, 5)))
def test_a_gain_always_has_more_fixed_than_broken(evidence: Evidence):
    """No combination of counts and looks calls a loss a gain, nor a gain a harm."""
    word = outcome(evidence)
    if word == "gain":
        assert evidence.fixed > evidence.broken
    if word == "harm":
        assert evidence.broken > evidence.fixed


@pytest.mark.parametrize(
    ("passes", "valid", "repeats", "solved"),
    [
        (2, 3, 3, True),
        (1, 3, 3, False),
        (1, 2, 3, False),
        (2, 2, 3, True),
        (1, 1, 3, None),
        (1, 1, 1, True),
        (0, 0, 1, None),
        (3, 4, 5, True),
        (3, 3, 5, None),
    ],
)
def test_majority_of_valid_repeats(passes: int, valid: int, repeats: int, solved: bool | None):
    """A tie is unsolved; fewer than two thirds valid is neither."""
    assert majority(passes, valid, repeats) is solved
