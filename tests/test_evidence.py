"""Evidence that may be looked at after every pair: its shape, and its bound by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.stats import (
    clean_pairs,
    clustered_evidence,
    fix_evidence,
    harmless_evidence,
    mcnemar_exact,
    sign_evidence,
)
from heldout.stats.evidence import AIMLESS, FIXES

counts = st.integers(0, 30)
incidents = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=8)


@given(counts, counts)
def test_a_pair_is_worth_nothing_on_average(better: int, worse: int) -> None:
    """Under a fair coin the next pair leaves the mean as it is: the bound stands on this."""
    later = (sign_evidence(better + 1, worse) + sign_evidence(better, worse + 1)) / 2
    assert later == pytest.approx(sign_evidence(better, worse))


def _mean(pairs: int, share: float) -> float:
    """Mean evidence of an incident that moves for good, up as likely as down."""
    return sum(
        math.comb(pairs, better) * chance**better * (1 - chance) ** (pairs - better) / 2
        * fix_evidence(better, pairs - better)
        for better in range(pairs + 1)
        for chance in (share, 1 - share)
    )  # fmt: skip


@pytest.mark.parametrize("share", [0.5, 0.53, 0.56, 0.6, 0.63, AIMLESS])
def test_an_aimless_move_is_worth_nothing_on_average(share: float) -> None:
    """Exactly, for every number of pairs: no evidence of a fix comes of it, nor of no effect."""
    assert max(_mean(pairs, share) for pairs in range(80)) <= 1 + 1e-9


def test_the_bound_on_moves_is_what_holds_it() -> None:
    """The negative control: larger moves pay, and a plain count of signs pays for small ones."""
    assert max(_mean(pairs, 0.8) for pairs in range(80)) > 1.5
    plain = sum(
        math.comb(40, better) * chance**better * (1 - chance) ** (40 - better) / 2
        * sign_evidence(better, 40 - better)
        for better in range(41)
        for chance in (AIMLESS, 1 - AIMLESS)
    )  # fmt: skip
    assert plain > 5


@given(counts, counts, st.floats(0.5, AIMLESS))
def test_evidence_of_a_fix_never_exceeds_a_fair_bet(better: int, worse: int, share: float) -> None:
    """Whenever one stops and whatever was bought: a bet that knows how the incident moves is fair.

    The next pair leaves its mean as it is, and the evidence is never above it.
    """

    def aimless(up: int, down: int) -> float:
        return (share**up * (1 - share) ** down + (1 - share) ** up * share**down) / 2

    def bet(up: int, down: int) -> float:
        return sum(w * lead**up * (1 - lead) ** down for lead, w in FIXES) / aimless(up, down)

    up = aimless(better + 1, worse) / aimless(better, worse)
    later = up * bet(better + 1, worse) + (1 - up) * bet(better, worse + 1)
    assert later == pytest.approx(bet(better, worse))
    assert fix_evidence(better, worse) <= bet(better, worse) * (1 + 1e-9)


@given(incidents, st.permutations(range(8)))
def test_order_of_incidents_does_not_matter(seen: list[tuple[int, int]], order: list[int]) -> None:
    """Evidence over incidents is the same in any order."""
    shuffled = [seen[at] for at in order if at < len(seen)]
    assert clustered_evidence(seen) == pytest.approx(clustered_evidence(shuffled))


@given(counts, counts)
def test_fixes_add_evidence_and_breaks_take_it(better: int, worse: int) -> None:
    """Monotone in both counts."""
    now = sign_evidence(better, worse)
    assert sign_evidence(better + 1, worse) > now > sign_evidence(better, worse + 1)


@given(st.floats(0.02, 0.5), st.floats(0, 1), st.floats(0, 1))
def test_a_fall_of_the_margin_pays_nothing(margin: float, moved: float, further: float) -> None:
    """Where the mean falls by the margin or more, the next pair does not raise evidence on average."""
    fall = margin + further * (1 - margin)
    worse = fall + moved * (1 - fall) / 2
    better = worse - fall
    mean = (
        better * harmless_evidence(1, 0, 1, margin)
        + worse * harmless_evidence(0, 1, 1, margin)
        + (1 - better - worse) * harmless_evidence(0, 0, 1, margin)
    )
    assert mean <= 1 + 1e-9


def test_harmlessness_is_shown_by_what_stays() -> None:
    """Unchanged and better pairs speak for it, worse ones against; the first sufficient number."""
    assert harmless_evidence(0, 0, 0, 0.15) == pytest.approx(1)
    assert harmless_evidence(1, 0, 9, 0.15) > harmless_evidence(0, 0, 9, 0.15)
    assert harmless_evidence(0, 1, 9, 0.15) < harmless_evidence(0, 0, 8, 0.15)
    n = clean_pairs(0.15, 0.1)
    assert harmless_evidence(0, 0, n, 0.15) >= 10 > harmless_evidence(0, 0, n - 1, 0.15)


def test_wrong_counts_are_refused() -> None:
    """A count below zero, or more flips than pairs, is a mistake of the caller."""
    with pytest.raises(ValueError, match="negative"):
        sign_evidence(-1, 0)
    with pytest.raises(ValueError, match="margin"):
        harmless_evidence(3, 3, 5, 0.1)
    with pytest.raises(ValueError, match="margin"):
        harmless_evidence(0, 0, 5, 0.0)


def _ever(draws: int, pairs: int, reached: object, lead: float) -> float:
    """How often a rule over (better, worse) is met at any of so many pairs."""
    rng, hits = np.random.default_rng(3), 0
    for _ in range(draws):
        better = worse = 0
        for up in rng.random(pairs) < lead:
            better, worse = better + up, worse + (not up)
            if reached(int(better), int(worse)):  # type: ignore[operator]
                hits += 1
                break
    return hits / draws


def test_looking_after_every_pair_keeps_the_bound() -> None:
    """A fair coin reaches 20 in at most 5 % of long runs; a test made for one look does not hold."""
    assert _ever(1000, 80, lambda a, b: sign_evidence(a, b) >= 20, 0.5) <= 0.05
    once = _ever(1000, 80, lambda a, b: a > b and mcnemar_exact(a, b) / 2 <= 0.05, 0.5)
    assert once > 0.10, "the negative control: peeking at a fixed-sample test"
    assert _ever(300, 80, lambda a, b: sign_evidence(a, b) >= 20, 0.9) > 0.95


def test_harm_of_the_margin_is_seldom_taken_for_harmless() -> None:
    """0.95 to 0.80 with looks at every pair; no change at 0.95 is found harmless mostly."""
    rng = np.random.default_rng(5)

    def shown(before: float, after: float) -> bool:
        fixed = broken = 0
        for pair in range(1, 121):
            one, two = rng.random(2) < (before, after)
            fixed, broken = fixed + int(two and not one), broken + int(one and not two)
            if harmless_evidence(fixed, broken, pair, 0.15) >= 10:
                return True
        return False

    assert sum(shown(0.95, 0.80) for _ in range(1000)) / 1000 <= 0.10
    assert sum(shown(0.95, 0.95) for _ in range(300)) / 300 >= 0.90


def test_a_third_of_the_incidents_is_not_drowned_by_the_others() -> None:
    """With the same total, a lead on two incidents is stronger evidence than one spread in noise."""
    gathered = clustered_evidence([(4, 0), (4, 0), (1, 2), (1, 2), (0, 1), (1, 1)])
    spread = clustered_evidence([(2, 1)] * 5 + [(1, 1)])
    assert gathered > 3 * spread
    assert math.isclose(clustered_evidence([]), 1.0)
