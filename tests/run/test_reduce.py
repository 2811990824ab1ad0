"""Reducers: majority of valid repeats, ties, too few valid ones, summaries."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import run_stubs as stubs
from hypothesis import given
from hypothesis import strategies as st

from heldout.judge.verdict import Verdict
from heldout.run.plan import Outcome, Terms
from heldout.run.reduce import (
    counted,
    final,
    invalid_share,
    pass_all,
    pass_any,
    pass_mean,
    run_status,
    solved,
    summaries,
)

SIGNS: dict[str, Any] = {"p": "pass", "f": "fail", "i": "invalid"}


def outcomes(signs: str, incident: str = "i-1", arm: str = "before") -> list[Outcome]:
    """One outcome per sign, each a repeat of its own."""
    return [
        Outcome(incident, arm, n, 0, Verdict(SIGNS[sign], "", "j")) for n, sign in enumerate(signs)
    ]


@pytest.mark.parametrize(
    ("signs", "repeats", "expected"),
    [
        ("ppp", 3, True),
        ("ppf", 3, True),
        ("pff", 3, False),
        ("pfi", 3, False),
        ("ppi", 3, True),
        ("pii", 3, None),
        ("pp", 3, True),
        ("p", 3, None),
        ("", 3, None),
        ("p", 1, True),
        ("i", 1, None),
        ("pf", 2, False),
        ("pi", 2, None),
        ("ppff", 5, False),
        ("pppi", 5, None),
        ("ppffi", 5, False),
    ],
)
def test_solved_is_the_majority_of_enough_valid_repeats(
    signs: str, repeats: int, expected: bool | None
):
    """A tie is unsolved; fewer than two thirds valid is unpaired."""
    assert solved(outcomes(signs), repeats) is expected


@given(st.text(alphabet="pfi", max_size=9), st.integers(0, 4))
def test_solved_agrees_with_counting(signs: str, absent: int):
    """For every mixture the rule of the definition holds, in whatever order repeats come."""
    repeats = max(1, len(signs) + absent)
    passed, valid = signs.count("p"), len(signs) - signs.count("i")
    found = solved(outcomes(signs), repeats)
    assert found is solved(list(reversed(outcomes(signs))), repeats)
    if valid < math.ceil(2 * repeats / 3):
        assert found is None
    else:
        assert found is (passed > valid - passed)


@given(st.text(alphabet="pfi", min_size=1, max_size=9))
def test_the_other_reducers_agree_with_counting(signs: str):
    """Mean, all and any over valid repeats; undefined without enough of them."""
    valid = signs.replace("i", "")
    repeats = len(signs)
    assert pass_mean(outcomes(signs)) == (valid.count("p") / len(valid) if valid else None)
    if solved(outcomes(signs), repeats) is None:
        assert pass_all(outcomes(signs), repeats) is None
        assert pass_any(outcomes(signs), repeats) is None
    else:
        assert pass_all(outcomes(signs), repeats) is ("f" not in valid)
        assert pass_any(outcomes(signs), repeats) is ("p" in valid)


@given(st.lists(st.sampled_from("pfi"), min_size=1, max_size=6), st.randoms())
def test_the_first_valid_attempt_of_a_slot_is_final(attempts: list[str], dice: Any):
    """Later attempts never replace a valid verdict, in whatever order they are read."""
    every = [
        Outcome("i", "a", 0, n, Verdict(SIGNS[sign], "", "j")) for n, sign in enumerate(attempts)
    ]
    dice.shuffle(every)
    chosen = final(every)["i", "a", 0]
    valid = [n for n, sign in enumerate(attempts) if sign != "i"]
    assert chosen.attempt == (valid[0] if valid else len(attempts) - 1)


def test_a_summary_counts_slots_and_keeps_unknown_prices_unknown(tmp_path: Path):
    """Absent and invalid slots lower coverage and not the rate."""
    cases = [stubs.case(tmp_path, name) for name in ("i-1", "i-2", "i-3")]
    plan = stubs.plan_of(cases, repeats=3)
    mixed = [*outcomes("ppf"), *outcomes("fii", "i-2"), *outcomes("ppp", arm="after")]
    before, after = summaries(mixed, plan)
    assert (before.passed, before.failed, before.invalid, before.absent) == (2, 2, 2, 3)
    assert before.rate == 0.5
    assert before.coverage == pytest.approx(4 / 9)
    assert (before.solved, before.unsolved, before.unpaired) == (1, 0, 2)
    assert (after.solved, after.unsolved, after.unpaired) == (1, 0, 2)
    assert after.rate == 1.0
    assert summaries([], plan)[0].rate is None
    assert summaries([], plan)[0].coverage == 0.0


@pytest.mark.parametrize(
    ("reducer", "expected", "sum_of"),
    [
        ("majority", [1.0, 0.0, None, 1.0], 2.0),
        ("mean", [2 / 3, 1 / 3, None, 1.0], 2.0),
        ("all", [0.0, 0.0, None, 1.0], 1.0),
        ("any", [1.0, 1.0, None, 1.0], 3.0),
    ],
)
def test_a_run_counts_by_its_own_reducer(
    tmp_path: Path, reducer: Any, expected: list[float | None], sum_of: float
):
    """What is solved follows the terms, while a score always takes the majority."""
    signs = {"i-1": "ppf", "i-2": "pff", "i-3": "pii", "i-4": "ppp"}
    cases = [stubs.case(tmp_path, name) for name in signs]
    every = [one for name, text in signs.items() for one in outcomes(text, name)]
    assert [counted(outcomes(text), 3, reducer) for text in signs.values()] == expected
    plan = stubs.plan_of(cases, repeats=3, terms=Terms(reducer=reducer))
    arm = summaries(every, plan)[0]
    assert arm.reducer == reducer
    assert arm.solved == pytest.approx(sum_of)
    assert arm.solved + arm.unsolved + arm.unpaired == pytest.approx(4)
    score = stubs.plan_of(cases, repeats=3, purpose="score", terms=Terms(reducer=reducer))
    arm = summaries(every, score)[0]
    assert (arm.reducer, arm.solved) == ("majority", 2)


def test_a_slot_stopped_by_a_cap_is_no_failure(tmp_path: Path):
    """It makes a run capped and not an error; an invalid one of another reason still does."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], repeats=3, max_invalid=0.3)
    passed, *others = outcomes("pii")
    stopped = [passed, *(replace(one, reason="cap") for one in others)]
    assert run_status(stopped, plan, 0) == "capped"
    broken = [*stopped[:2], replace(stopped[2], reason="provider_unavailable")]
    assert run_status(broken, plan, 0) == "error"


def test_a_run_with_too_many_invalids_is_an_error(tmp_path: Path):
    """max_invalid is a share of started slots; at the limit it still holds."""
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], repeats=4, max_invalid=0.25)
    assert run_status(outcomes("pppi"), plan, 0) == "finished"
    assert run_status(outcomes("ppii"), plan, 0) == "error"
    assert run_status(outcomes("pp"), plan, 2) == "capped"
    assert invalid_share([]) == 0.0
