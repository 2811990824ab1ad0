"""Caps of a job, and what was spent against them."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """Caps of a whole job: USD, tokens (input and output), wall seconds; ``None`` is no cap."""

    max_usd: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None


class Budget:
    """Spending against :class:`Caps`; hand the same one to several runs to cap them together.

    Where a price is unknown, a cap in USD cannot be kept, so it counts as reached at once.
    """

    def __init__(self, caps: Caps, *, usd: float | None = 0.0, tokens: int = 0) -> None:
        self.caps = caps
        self.usd = usd
        """Spent so far; ``None`` once anything of unknown price was bought."""
        self.tokens = tokens
        self._began = time.monotonic()

    def add(self, usd: float | None, tokens: int) -> None:
        """Count one reply of a model."""
        self.usd = None if usd is None or self.usd is None else self.usd + usd
        self.tokens += tokens

    def reached(self) -> str:
        """Which cap is reached, as a sentence; empty while none is."""
        caps = self.caps
        if caps.max_usd is not None:
            if self.usd is None:
                return "the model's price is unknown, so a cap in USD cannot be kept"
            if self.usd >= caps.max_usd:
                return f"the job's cap of {caps.max_usd:g} USD is reached"
        if caps.max_tokens is not None and self.tokens >= caps.max_tokens:
            return f"the job's cap of {caps.max_tokens} tokens is reached"
        seconds = time.monotonic() - self._began
        if caps.max_seconds is not None and seconds >= caps.max_seconds:
            return f"the job's cap of {caps.max_seconds:g} seconds is reached"
        return ""
