"""Cohen's kappa: published vectors, limits, and that its interval covers what it should."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.stats import cohen_kappa


def table(cells: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    """The items of a table of counts."""
    return [pair for pair, count in cells.items() for _ in range(count)]


def test_a_published_table_is_reproduced():
    """Fleiss, Cohen & Everitt's own example of 3 x 3: kappa 0.429, standard error 0.0536 of 200."""
    counts = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
    cells = {(str(i), str(j)): counts[i][j] for i in range(3) for j in range(3)}
    found = cohen_kappa(table(cells))
    assert found.value == pytest.approx(0.4286, abs=5e-4)
    assert (found.high - found.value) / 1.959964 == pytest.approx(math.sqrt(0.002885), abs=2e-4)


def test_chance_and_constancy_are_worth_nothing():
    """Independent raters have kappa 0, and so has one who always says the same."""
    chance = {("p", "p"): 25, ("p", "f"): 25, ("f", "p"): 25, ("f", "f"): 25}
    assert cohen_kappa(table(chance)).value == pytest.approx(0)
    constant = cohen_kappa(table({("p", "p"): 30, ("f", "p"): 70}))
    assert (constant.value, constant.low, constant.high) == (0, 0, 0)


def test_full_agreement_is_not_certainty():
    """Raters who never differed have kappa 1 with a lower bound that grows with their number."""
    few = cohen_kappa(table({("p", "p"): 5, ("f", "f"): 5}))
    many = cohen_kappa(table({("p", "p"): 100, ("f", "f"): 100}))
    assert few.value == many.value == 1
    assert few.low < many.low < 1


def test_nothing_to_compare_is_not_a_number():
    """Without items, or where both always say the same, there is no kappa."""
    assert math.isnan(cohen_kappa([]).value)
    assert math.isnan(cohen_kappa([("p", "p")] * 9).value)


words = st.sampled_from(["pass", "fail", "invalid"])


@given(st.lists(st.tuples(words, words), max_size=60))
def test_it_is_bounded_symmetric_and_blind_to_order(pairs: list[tuple[str, str]]):
    """-1 <= low <= kappa <= high <= 1; raters may be swapped and items shuffled."""
    found = cohen_kappa(pairs)
    if math.isnan(found.value):
        return
    assert -1 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1
    for other in ([(b, a) for a, b in pairs], pairs[::-1]):
        again = cohen_kappa(other)
        assert again[:3] == pytest.approx(found[:3])


def test_the_interval_covers_the_true_value_about_as_often_as_it_says():
    """Of 400 drawn samples of 150 items with 10 % errors nineteen in twenty hold the true kappa."""
    draw, share, wrong = random.Random(4), 0.25, 0.1
    said = share * (1 - wrong) + (1 - share) * wrong
    expected = share * said + (1 - share) * (1 - said)
    true = (1 - wrong - expected) / (1 - expected)
    covered = 0
    for _ in range(400):
        labels = [draw.random() < share for _ in range(150)]
        pairs = [(str(one), str(one != (draw.random() < wrong))) for one in labels]
        found = cohen_kappa(pairs)
        covered += found.low <= true <= found.high
    assert 0.92 <= covered / 400 <= 0.98
