"""Caps of a job, what was spent against them, and clients that keep to them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from heldout.errors import CapReached, ConfigError, HeldoutError, ProviderProtocol
from heldout.llm import ModelName, ModelReply, ModelRequest, price_of
from heldout.llm.prices import prices_of
from heldout.settings import Settings


@dataclass(frozen=True, slots=True)
class Caps:
    """Caps of a whole job: USD, tokens (input and output), wall seconds; ``None`` is no cap."""

    max_usd: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None


def left_of(max_usd: float | None, max_tokens: int | None, usd: float | None, tokens: int) -> Caps:
    """What is left of caps after spending; an unknown price leaves nothing of a cap in USD."""
    return Caps(
        None if max_usd is None else 0.0 if usd is None else max(0.0, max_usd - usd),
        None if max_tokens is None else max(0, max_tokens - tokens),
    )


Number = TypeVar("Number", int, float)


def _least(one: Number | None, other: Number | None) -> Number | None:
    return min((cap for cap in (one, other) if cap is not None), default=None)


UNPRICED = "a price is unknown, so a cap in USD cannot be kept; cap tokens instead"


def require_priced(settings: Settings, models: Iterable[str], *caps: float | None) -> None:
    """Refuse a cap in USD on models without a price, before anything is spent.

    ``caps`` are those in USD that hold, ``None`` is no cap. A :class:`ConfigError` names the model.
    """
    if all(cap is None for cap in caps):
        return
    prices = prices_of(settings.prices)
    for model in models:
        if price_of(ModelName.parse(model), prices) is None:
            raise ConfigError(
                f"{model} has no price, so a cap in USD cannot be kept",
                where=str(settings.prices),
                mend="Cap tokens instead (max_tokens), or set the model's price in prices.toml",
            )


class Wider(Protocol):
    """A budget over more than one job, that each job's spending counts against too."""

    @property
    def max_usd(self) -> float | None:
        """Its cap in USD, ``None`` without one."""
        ...

    def left(self) -> Caps:
        """What it still allows in USD and tokens; ``None`` without a cap."""
        ...

    def add(self, usd: float | None, tokens: int) -> None:
        """Count one reply of a model."""
        ...

    def reached(self) -> str:
        """Which of its caps is reached, as a sentence; empty while none is."""
        ...


class Budget:
    """Spending against :class:`Caps`; hand the same one to several runs to cap them together.

    Where a price is unknown, a cap in USD cannot be kept, so it counts as reached at once. What is
    spent counts ``within`` a wider budget too, the calendar month's.
    """

    def __init__(
        self,
        caps: Caps,
        *,
        usd: float | None = 0.0,
        tokens: int = 0,
        within: Wider | None = None,
    ) -> None:
        self.caps = caps
        self.within = within
        self.usd = usd
        """Spent so far; ``None`` once anything of unknown price was bought."""
        self.tokens = tokens
        self._began = time.monotonic()

    def add(self, usd: float | None, tokens: int) -> None:
        """Count one reply of a model."""
        self.usd = None if usd is None or self.usd is None else self.usd + usd
        self.tokens += tokens
        if self.within is not None:
            self.within.add(usd, tokens)

    @property
    def usd_caps(self) -> tuple[float | None, ...]:
        """The caps in USD that hold, its own and the wider budget's."""
        return self.caps.max_usd, self.within.max_usd if self.within else None

    def left(self) -> Caps:
        """What may still be spent in USD and tokens, by its own caps and the wider budget's."""
        own = left_of(self.caps.max_usd, self.caps.max_tokens, self.usd, self.tokens)
        wide = self.within.left() if self.within else Caps()
        return Caps(_least(own.max_usd, wide.max_usd), _least(own.max_tokens, wide.max_tokens))

    def reached(self) -> str:
        """Which cap is reached, as a sentence; empty while none is."""
        caps = self.caps
        if self.within is not None and (why := self.within.reached()):
            return why
        if caps.max_usd is not None:
            if self.usd is None:
                return UNPRICED
            if self.usd >= caps.max_usd:
                return f"the job's cap of {caps.max_usd:g} USD is reached"
        if caps.max_tokens is not None and self.tokens >= caps.max_tokens:
            return f"the job's cap of {caps.max_tokens} tokens is reached"
        seconds = time.monotonic() - self._began
        if caps.max_seconds is not None and seconds >= caps.max_seconds:
            return f"the job's cap of {caps.max_seconds:g} seconds is reached"
        return ""


class Client(Protocol):
    """What a run needs of a model client."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask once; failures of the service are :class:`ProviderError`."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


class CappedClient:
    """A client that asks nothing more once the job's cap is reached.

    With ``counts`` it also adds what each reply cost to the budget.
    """

    def __init__(self, client: Client, budget: Budget, *, counts: bool = False) -> None:
        self._client = client
        self._budget = budget
        self._counts = counts

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask once; :class:`CapReached` instead when the job may spend no more."""
        reached = self._budget.reached()
        if reached:
            raise CapReached(reached, mend="Raise the cap and run 'heldout resume'")
        try:
            reply = await self._client.complete(request)
        except HeldoutError:
            raise
        except Exception as error:
            raise ProviderProtocol(
                f"the model client failed ({type(error).__name__}: {error})",
                mend="Run 'heldout resume'; report it if it stays",
            ) from error
        if self._counts:
            self._budget.add(reply.usd, reply.usage.input_tokens + reply.usage.output_tokens)
        return reply

    async def aclose(self) -> None:
        """A client that counts is its owner's only handle; else whoever opened it closes it."""
        if self._counts:
            await self._client.aclose()
