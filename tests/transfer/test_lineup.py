"""Rows, columns and the brain that each arm reads."""

from __future__ import annotations

import pytest
from tests.transfer.conftest import BOTH, ONE, TWO

from heldout.errors import UsageError
from heldout.overlays import read_by, shared
from heldout.transfer import line_up


def test_every_row_is_an_arm_for_every_model():
    """The shared brain is before; a model's own is after; others go by whose they are."""
    lineup = line_up(BOTH, (ONE, TWO))
    assert lineup.arms(ONE) == {"": "before", ONE: "after", TWO: "of-llama-two"}
    assert lineup.arms(TWO) == {"": "before", TWO: "after", ONE: "of-openai-one-low"}
    brains = lineup.brains(ONE)
    assert brains["before"].hash == shared(BOTH).hash
    assert brains["after"].hash == read_by(BOTH, ONE).hash
    assert brains["of-llama-two"].prompt(ONE) == BOTH.prompt(TWO)


def test_a_model_without_overlay_reads_the_first_row_as_after():
    """Every score needs a brain after; where a model has none of its own, another's takes it."""
    lineup = line_up(BOTH, ("openai/new",), (TWO, ONE))
    assert lineup.arms("openai/new") == {"": "before", TWO: "after", ONE: "of-openai-one-low"}


@pytest.mark.parametrize(
    ("models", "owners", "said"),
    [
        ((), (), "no model"),
        ((ONE, ONE), (), "named twice"),
        (("openai/one-low", ONE), (), "share one overlay"),
        ((ONE,), ("openai/new",), "no overlay of openai/new"),
        (("openai/new",), (), "no overlay of any"),
        (("nonsense",), (), "not the name of a model"),
    ],
)
def test_what_makes_no_table_is_said(models: tuple[str, ...], owners: tuple[str, ...], said: str):
    """Mistakes in rows and columns are named before anything is read or spent."""
    with pytest.raises(UsageError, match=said):
        line_up(BOTH, models, owners)
