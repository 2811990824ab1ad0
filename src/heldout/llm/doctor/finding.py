"""What a probe found out, and what it may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Cost:
    """The most that a probe may take: requests, and tokens of all of them together."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer about an endpoint: ``said`` in words, ``facts`` as plain data.

    ``unknown`` is what could not be found out; it is neither a yes nor a no.
    """

    probe: str
    title: str
    outcome: Outcome
    said: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "probe": self.probe,
            "title": self.title,
            "outcome": self.outcome,
            "said": self.said,
            "facts": dict(self.facts),
        }
