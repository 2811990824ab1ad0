"""A verdict: pass, fail, or invalid with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Result = Literal["pass", "fail", "invalid"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reasoning`` is a text for people and the proposer; ``criteria`` says which ones held."""

    result: Result
    reasoning: str
    judge: str
    criteria: Mapping[str, Any] = field(default_factory=dict)
