"""Strategies and the shortening step by themselves."""

from __future__ import annotations

import pytest

from heldout.brain import APPEND, Brain
from heldout.edit import Edit, Op
from heldout.propose import STRATEGIES, grown, no_shortening, strategy, unread

FILE = "overlays/models/m/method.md"
LINES = ("- Look back a week.", "- Look back seven days, and more.")


def test_every_strategy_says_whether_it_reads_failures() -> None:
    """Only the placebo does not."""
    assert {name: one.reads_failures for name, one in STRATEGIES.items()} == {
        "reflect": True,
        "lines": True,
        "blind": False,
        "gepa": True,
    }
    assert strategy("blind") is STRATEGIES["blind"]


def test_unread_failures_are_one_cluster_without_a_word_of_them() -> None:
    """Every failing incident, in an order of the seed; the reading is empty."""
    names = [f"i-{number}" for number in range(9)]
    (one,), (again,), (other,) = unread(names, 1), unread(names, 1), unread(names, 2)
    assert one.incidents == again.incidents != other.incidents
    assert sorted(one.incidents) == sorted(other.incidents) == names
    assert {item.diagnosis.found for item in one.failures} == {""}
    assert unread([], 1) == ()


def test_what_tuning_added_is_the_overlay_or_the_new_lines_of_a_base_file() -> None:
    """An overlay is tuning's own, earlier jobs included; of a base file only what is new counts."""
    base = Brain({"method.md": "- Old.\n"}, ("method.md",), extra={FILE: f"{APPEND}\n\n- A.\n"})
    after = Brain(
        {"method.md": "- Old.\n- New.\n"}, ("method.md",), extra={FILE: f"{APPEND}\n\n- A.\n- B.\n"}
    )  # fmt: skip
    assert grown(base, after, FILE) == ("- A.", "- B.")
    assert grown(base, after, "method.md") == ("- New.",)


@pytest.mark.parametrize(
    ("ops", "why"),
    [
        ((Op(FILE, "delete", LINES[0]),), ""),
        ((Op(FILE, "replace", LINES[0], "- Look back."), Op(FILE, "delete", LINES[1])), ""),
        ((Op(FILE, "replace", LINES[1], LINES[0] + " And " * 9),), "nothing shorter"),
        ((Op(FILE, "replace", LINES[1], "- A.\n- B."),), "nothing shorter"),
        ((Op(FILE, "append", "", "- More."), Op(FILE, "delete", LINES[0])), "append text"),
        ((Op(FILE, "delete", "- Not mine."),), "did not add"),
        ((Op("method.md", "delete", LINES[0]),), "did not add"),
    ],
)
def test_a_shortening_takes_away_and_nothing_else(ops: tuple[Op, ...], why: str) -> None:
    """Fewer characters, no more lines, and only of what the tuning added."""
    said = no_shortening(Edit(ops, ""), FILE, LINES)
    assert (why in said) if why else said == ""


def test_growth_counts_what_is_taken_away() -> None:
    """Lines in, lines out: a merge frees room under the cap on added lines."""
    merge = (Op(FILE, "replace", LINES[0], "- Look back."), Op(FILE, "delete", LINES[1]))
    assert Edit(merge, "").growth() == -1
    assert Edit((Op(FILE, "append", "", "- A.\n\n- B."),), "").growth() == 2
