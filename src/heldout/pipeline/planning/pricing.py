"""Prices of a plan's models, with their day; and what holds the spending."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.llm.names import ModelName
from heldout.llm.prices import Price, price_of, prices_of
from heldout.settings import Settings
from heldout.store import Ledger, now_us
from heldout.store.spending import month_of, spending


def price(settings: Settings, model: str) -> Price | None:
    """The model's price today, the project's own prices before the table's."""
    return price_of(ModelName.parse(model), prices_of(settings.prices))


def price_line(settings: Settings, model: str) -> str:
    """One model's price in a line; an unknown one says what to do."""
    name = ModelName.parse(model)
    if name.is_simulated:
        return f"{model}: runs in this process and costs nothing"
    found = price(settings, model)
    if found is None:
        return (
            f"{model}: no known price, so USD is unknown and a cap in USD cannot hold; write it "
            "into prices.toml"
        )
    cached = "" if found.cached is None else f", {found.cached:g} cached"
    day = f", as of {found.as_of}" if found.as_of else ""
    return f"{model}: {found.input:g} USD in{cached}, {found.output:g} out per million tokens{day}"


def cap_lines(
    settings: Settings, ledger: Ledger | None, *, usd: float | None, tokens: int | None
) -> Iterator[str]:
    """The caps of a job or score, of the month, and of one investigation."""
    caps = [] if usd is None else [f"{usd:g} USD"]
    caps += [] if tokens is None else [f"{tokens:,} tokens"]
    if caps:
        yield f"it stops at {' or '.join(caps)}"
    else:
        yield "NO CAP is set: --max-usd stops it"
    limits = settings.limits
    each = "" if limits.max_usd is None else f", {limits.max_usd:g} USD"
    yield (
        f"one investigation ends at {limits.max_steps} tool calls or {limits.max_tokens:,} "
        f"tokens{each}"
    )
    month = settings.month
    if month.max_usd is None and month.max_tokens is None:
        return
    spent = spending(ledger, since=month_of(now_us())) if ledger else None
    if month.max_usd is not None:
        known = 0.0 if spent is None else spent.total_usd
        used = "an unknown part" if known is None else f"{known:.2f}"
        yield f"the month ends at {month.max_usd:g} USD, of which {used} is spent"
    if month.max_tokens is not None:
        used = f"{spent.total_tokens:,}" if spent else "0"
        yield f"the month ends at {month.max_tokens:,} tokens, of which {used} are used"
