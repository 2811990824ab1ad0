"""What one investigation leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from heldout.interface import Submission

StopReason = Literal[
    "submitted", "max_steps", "max_tokens", "max_seconds", "max_usd", "no_submission", "crash",
    "malformed", "loop", "refused",
]  # fmt: skip
"""Why an investigation ended; all of them are the agent's own doing and are judged."""


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call: what was asked, what came back, which ids it showed."""

    index: int
    tool: str
    args: dict[str, Any]
    answer: str
    is_error: bool
    shown_ids: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """One finished investigation. ``usd`` is ``None`` where the model's price is unknown."""

    messages: tuple[dict[str, Any], ...]
    steps: tuple[Step, ...]
    submission: Submission
    stop_reason: StopReason
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float
    served_model: str
    detail: str = ""
