"""Prices: a dated table, and unknown stays unknown."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from heldout.errors import ConfigError
from heldout.llm import ModelName, Usage, cost, price_of, prices_as_of
from heldout.llm.prices import TABLE, prices_of

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


def test_a_projects_own_prices_lie_over_the_table(tmp_path: Path):
    """Own names are known, own figures win, the rest of the table stays; each has its own day."""
    own = tmp_path / "prices.toml"
    own.write_text(
        'as_of = "2026-01-02"\n'
        '[local."tiny:8b"]\ninput = 0.1\noutput = 0.2\n'
        '[openai."gpt-5"]\ninput = 1\ncached = 0.5\noutput = 2\n'
    )
    prices = prices_of(own)
    tiny = price_of(ModelName("local", "tiny:8b"), prices)
    assert tiny is not None
    assert str(tiny.as_of) == "2026-01-02"
    assert cost(ModelName("local", "tiny:8b"), USAGE, prices) == pytest.approx(0.12)
    assert cost(ModelName("openai", "gpt-5"), USAGE, prices) == pytest.approx(0.6 + 0.2 + 0.2)
    mini = price_of(ModelName("openai", "gpt-5-mini"), prices)
    assert mini == price_of(ModelName("openai", "gpt-5-mini"))
    assert mini is not None
    assert str(mini.as_of) == prices_as_of()
    assert cost(ModelName("local", "other"), USAGE, prices) is None
    assert prices_of(tmp_path / "none.toml") == prices_of()


@pytest.mark.parametrize(
    "text",
    [
        "as_of = ",
        'as_of = "soon"\n[a."b"]\ninput = 1\noutput = 1\n',
        '[a."b"]\ninput = -1\noutput = 1\n',
        '[a."b"]\ninput = 1\n',
        '[a."b"]\ninput = nan\noutput = 1\n',
        '[a."b"]\ninput = 1\noutput = 1\nout = 3\n',
        "a = 3\n",
        "[a]\nb = 3\n",
    ],
)
def test_own_prices_that_are_none_are_refused(tmp_path: Path, text: str):
    """A wrong price would be a wrong cost for ever: the file is refused by name."""
    own = tmp_path / "prices.toml"
    own.write_text(text)
    with pytest.raises(ConfigError, match=r"prices\.toml"):
        prices_of(own)
