"""What tokens cost: a dated table beside this file. An unknown model has no price, never 0."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from heldout.llm.messages import Usage
from heldout.llm.names import ModelName

TABLE = Path(__file__).with_name("prices.toml")
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    cached: float
    output: float

    def of(self, usage: Usage) -> float:
        """The cost of one reply in USD; reasoning tokens are billed as output."""
        fresh = max(usage.input_tokens - usage.cached_tokens, 0)
        return (
            fresh * self.input
            + usage.cached_tokens * self.cached
            + usage.output_tokens * self.output
        ) / 1e6


FREE = Price(0.0, 0.0, 0.0)
"""Simulated models run in this process."""


@cache
def _table() -> dict[str, dict[str, Price]]:
    raw = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {
        provider: {name: Price(**price) for name, price in models.items()}
        for provider, models in raw.items()
        if isinstance(models, dict)
    }


@cache
def prices_as_of() -> str:
    """The day of the table, ISO."""
    return str(tomllib.loads(TABLE.read_text(encoding="utf-8"))["as_of"])


def price_of(model: ModelName) -> Price | None:
    """The model's price; a dated snapshot costs what its model costs; ``None`` if unknown."""
    if model.is_simulated:
        return FREE
    models = _table().get(model.provider, {})
    return models.get(model.name) or models.get(_SNAPSHOT.sub("", model.name))


def cost(model: ModelName, usage: Usage) -> float | None:
    """USD of one reply; ``None`` where price or usage is unknown."""
    price = price_of(model)
    if price is FREE:
        return 0.0
    if price is None or usage.estimated:
        return None
    return price.of(usage)
