"""What the loop needs of a mode."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

from heldout.agent.toolbox import Toolbox
from heldout.llm.messages import ModelReply, ModelRequest, ToolCall


@dataclass(frozen=True, slots=True)
class Opening:
    """What every investigation begins with."""

    brain: str
    """The brain as text."""
    alert: str
    toolbox: Toolbox
    seed: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What a reply amounts to: its calls, or what the model is told where there are none."""

    calls: tuple[ToolCall, ...]
    told: str = ""


class Dialogue(Protocol):
    """One investigation's conversation. ``counts`` is how often the harness had to step in."""

    counts: Counter[str]

    @property
    def patience(self) -> int:
        """So many replies without a call in a row end the investigation."""
        ...

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation for the trace, as a reader follows it: system, alert, steps, answers."""
        ...

    def request(self, *, last: bool) -> ModelRequest:
        """The next request; ``last`` offers nothing but the submitting tool.

        Its message list is the one of the request before, appended to, or a new one.
        """
        ...

    def take(self, reply: ModelReply) -> Taken:
        """Write a reply down and read it."""
        ...

    def answered(self, call: ToolCall, answer: str) -> None:
        """Write down what a call returned."""
        ...

    def say(self, text: str) -> None:
        """Words of the harness."""
        ...

    def make_room(self) -> str:
        """Make the next request shorter; returns what was done, empty where nothing could be."""
        ...


@dataclass(slots=True)
class Formats:
    """What an endpoint was found not to take; shared by the investigations of a run."""

    no_schema: bool = False


class Mode(Protocol):
    """How a run's model is asked. Frozen, but for what it learns about the endpoint."""

    @property
    def name(self) -> str:
        """``tools``, ``json`` or ``notebook``."""
        ...

    @property
    def formats(self) -> Formats:
        """What the endpoint does not take."""
        ...

    def open(self, opening: Opening) -> Dialogue:
        """Begin one investigation."""
        ...


LONGEST_REPLY = 2_000
"""Characters that a reply without a call keeps in the conversation."""
