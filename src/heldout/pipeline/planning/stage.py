"""A plan: stages with what each is expected to take, and what must be said beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heldout.llm.prices import Price
from heldout.pipeline.planning.unit import Unit


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: so many of something are expected, ``most`` at most (``None``: not bounded here).

    ``of`` says what is counted. ``price`` is ``None`` where the model has no known price.
    """

    name: str
    expected: int
    most: int | None
    unit: Unit
    price: Price | None
    of: Literal["investigations", "calls"] = "investigations"

    @property
    def calls(self) -> int:
        """Requests expected."""
        return round(self.expected * self.unit.calls)

    @property
    def tokens(self) -> int:
        """Tokens expected, in and out."""
        return round(self.expected * self.unit.tokens)

    @property
    def usd(self) -> float | None:
        """USD expected; ``None`` without a price."""
        return self.unit.usd(self.expected, self.price)


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked, its stages, and lines for people: caps, assumptions, what it can show."""

    title: str
    subject: str
    stages: tuple[Stage, ...]
    basis: tuple[str, ...]
    prices: tuple[str, ...]
    caps: tuple[str, ...]
    gain: str
    simulated: bool
    max_usd: float | None = None
    further: tuple[Stage, ...] = ()
    """What follows later and is a decision of its own."""

    @property
    def investigations(self) -> int:
        """Expected in all."""
        return sum(one.expected for one in self.stages if one.of == "investigations")

    @property
    def most(self) -> int | None:
        """Investigations at most; ``None`` where a stage has no bound."""
        bounds = [one.most for one in self.stages if one.of == "investigations"]
        return None if None in bounds else sum(bound or 0 for bound in bounds)

    @property
    def calls(self) -> int:
        """Requests expected in all."""
        return sum(one.calls for one in self.stages)

    @property
    def tokens(self) -> int:
        """Tokens expected in all."""
        return sum(one.tokens for one in self.stages)

    @property
    def usd(self) -> float | None:
        """USD expected in all; ``None`` as soon as one price is unknown."""
        parts = [one.usd for one in self.stages]
        return None if None in parts else sum(part or 0.0 for part in parts)
