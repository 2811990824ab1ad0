"""Prices: a dated table, and unknown stays unknown."""

from __future__ import annotations

import datetime

from heldout.llm import ModelName, Usage, cost, price_of, prices_as_of
from heldout.llm.prices import TABLE

USAGE = Usage(
    input_tokens=1_000_000, output_tokens=100_000, cached_tokens=400_000, reasoning_tokens=50_000
)


def test_the_table_is_dated_and_beside_the_code():
    """The day of the prices can be printed beside every cost."""
    assert TABLE.is_file()
    assert datetime.date.fromisoformat(prices_as_of())


def test_cached_tokens_are_cheaper_and_reasoning_is_output():
    """1 M input of which 0.4 M cached, 0.1 M output: 0.6 x 1.25 + 0.4 x 0.125 + 0.1 x 10."""
    assert cost(ModelName.parse("openai/gpt-5@low"), USAGE) == 0.6 * 1.25 + 0.4 * 0.125 + 0.1 * 10


def test_a_snapshot_costs_what_its_model_costs():
    """A dated name falls back to the name without date."""
    assert price_of(ModelName("openai", "gpt-5-2025-08-07")) == price_of(
        ModelName("openai", "gpt-5")
    )


def test_unknown_is_none_and_never_zero():
    """An unknown model or a missing usage has no cost; a simulated model costs nothing."""
    assert cost(ModelName("openai", "gpt-unheard-of"), USAGE) is None
    assert cost(ModelName("elsewhere", "gpt-5"), USAGE) is None
    assert cost(ModelName("openai", "gpt-5"), Usage(10, 10, estimated=True)) is None
    assert cost(ModelName("sim", "anchored"), USAGE) == 0.0
