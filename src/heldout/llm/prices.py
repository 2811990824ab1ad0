"""What tokens cost: a dated table beside this file, and a project's own prices laid over it.

An unknown model has no price, never 0.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.errors import ConfigError
from heldout.llm.messages import Usage
from heldout.llm.names import ModelName

TABLE = Path(__file__).with_name("prices.toml")
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class Price(BaseModel):
    """USD per million tokens, and the day when that was so. ``cached`` defaults to ``input``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    as_of: date | None = None

    def of(self, usage: Usage) -> float:
        """The cost of one reply in USD; reasoning tokens are billed as output."""
        fresh = max(usage.input_tokens - usage.cached_tokens, 0)
        cached = self.input if self.cached is None else self.cached
        return (
            fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output
        ) / 1e6


FREE = Price(input=0.0, cached=0.0, output=0.0)
"""Simulated models run in this process."""

Prices = Mapping[str, Mapping[str, Price]]
"""Prices by provider and name."""


def prices_of(own: Path | None = None) -> Prices:
    """The table, with the prices of the file ``own`` laid over it where that exists.

    ``own`` has the table's form: ``as_of``, then ``[provider."name"]`` with ``input`` and
    ``output``. One that cannot be read is a :class:`ConfigError`.
    """
    table = _read(TABLE)
    if own is None or not own.is_file():
        return table
    laid = _read(own)
    return {
        provider: {**table.get(provider, {}), **laid.get(provider, {})}
        for provider in table.keys() | laid.keys()
    }


@cache
def prices_as_of() -> str:
    """The day of the table, ISO."""
    return str(_raw(TABLE)["as_of"])


def price_of(model: ModelName, prices: Prices | None = None) -> Price | None:
    """The model's price; a dated snapshot costs what its model costs; ``None`` if unknown."""
    if model.is_simulated:
        return FREE
    models = (_read(TABLE) if prices is None else prices).get(model.provider, {})
    return models.get(model.name) or models.get(_SNAPSHOT.sub("", model.name))


def cost(model: ModelName, usage: Usage, prices: Prices | None = None) -> float | None:
    """USD of one reply; ``None`` where price or usage is unknown."""
    price = price_of(model, prices)
    if price is FREE:
        return 0.0
    if price is None or usage.estimated:
        return None
    return price.of(usage)


@cache
def _read(path: Path) -> Prices:
    raw = _raw(path)
    as_of = raw.pop("as_of", None)
    raw.pop("source", None)
    try:
        return {
            str(provider): {
                str(name): Price.model_validate({"as_of": as_of, **price})
                for name, price in models.items()
            }
            for provider, models in raw.items()
        }
    except ValidationError as error:
        first = error.errors()[0]
        what = f"'{'.'.join(str(part) for part in first['loc'])}': {first['msg']}"
    except (AttributeError, TypeError):
        what = "a price does not stand under its provider and name"
    raise ConfigError(
        what, where=str(path), mend='Write [provider."name"] with input and output, USD per million'
    )


def _raw(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"the prices cannot be read ({error})", where=str(path), mend="Correct the file"
        ) from error
