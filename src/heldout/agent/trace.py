"""What one investigation leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from heldout.interface import Submission

if TYPE_CHECKING:
    from heldout.agent.footprint import Footprint

StopReason = Literal[
    "submitted", "max_steps", "max_tokens", "max_seconds", "max_usd", "no_submission", "crash",
    "malformed", "loop", "refused",
]  # fmt: skip
"""Why an investigation ended; all of them are the agent's own doing and are judged."""


PROGRAM = "program"
"""The mode of a trace that a program left: its steps are what was served to it."""


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
    """One finished investigation. ``usd`` is ``None`` where the model's price is unknown.

    ``messages`` are the conversation as a reader follows it: system prompt, alert, then replies and
    answers. A ``notebook`` sends them in another form, which ``agent.modes.notebook.pages`` writes
    again. ``counts`` says how often the harness had to step in:

    ``repeated`` ``circling`` ``same_error``
        calls that led nowhere (:mod:`heldout.agent.loops`)
    ``malformed`` ``silent`` ``cut_off`` ``several``
        calls that could not be read, replies without a call, those of them that the output limit
        ended, replies of which only the first call was run
    ``unshown``
        submissions refused for an id that no answer had shown
    ``room_made`` ``room_made_at``
        1 where older answers were taken out to fit the model's window, before which request
    """

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
    mode: str = "tools"
    counts: Mapping[str, int] = field(default_factory=dict)
    reasoning_tokens: int = 0
    """Part of ``output_tokens``."""

    @property
    def kept(self) -> Footprint | None:
        """Its counts where they were kept beside it; ``None`` where they must be counted."""
        return None
