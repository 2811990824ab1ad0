"""What is asked of a model and what comes back, whatever the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from heldout.errors import ProviderRefused, ProviderUnavailable, StoreError

KEPT = "_kept"
"""Key of an assistant message under which a wire keeps what it must send back word for word.

Opaque to everyone else, and never sent by a wire that did not put it there.
"""


class ContextExceeded(ProviderRefused):
    """The conversation no longer fits the model's context window: the agent's own doing."""

    reason = "context_exceeded"


class RequestRefused(ProviderRefused):
    """The endpoint does not take something in the request (400, 422), a response schema perhaps."""


class Unreachable(ProviderUnavailable):
    """Nobody listens where the provider should be."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model wants made. ``arguments`` is the model's text, JSON or not."""

    id: str
    name: str
    arguments: str

    def wire(self) -> dict[str, Any]:
        """The call as it goes back to the model in the conversation."""
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply; ``cached`` is part of ``input``, ``reasoning`` part of ``output``.

    ``estimated`` is true where the provider sent no usage: the counts are then bytes / 4, good for
    a limit and for nothing else, and no price is computed from them.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. ``messages`` and ``tools`` are Chat Completions dictionaries, sent as they are.

    ``response_schema`` is a JSON schema that the answer's text must follow; it is sent as strict
    where it is (see :mod:`heldout.llm.strict`), as guidance otherwise. The message list may be
    appended to by its owner between requests; a request only reads it.
    """

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    seed: int | None = None
    max_output_tokens: int | None = None
    response_schema: Mapping[str, Any] | None = None
    tool_choice: str = ""
    """Empty (the provider's default), ``auto``, ``none``, ``required``, or a tool's name."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply. ``usd`` is ``None`` where the price is unknown, never 0 in its place.

    ``seconds`` is the time of the attempt that succeeded; waiting for the limiter and for retries
    is not in it. ``refusal`` is the model's own; a provider's filter raises instead. ``kept`` is
    what the wire sends back with this reply's message, above all reasoning.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    served_model: str = ""
    usd: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    refusal: str = ""
    kept: tuple[Mapping[str, Any], ...] = ()

    def message(self) -> dict[str, Any]:
        """The reply as the assistant's message of the conversation."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.tool_calls:
            message["tool_calls"] = [call.wire() for call in self.tool_calls]
        elif not self.text:
            message["content"] = self.refusal
        if self.kept:
            message[KEPT] = list(self.kept)
        return message

    def plain(self) -> dict[str, Any]:
        """Plain data for a journal."""
        return asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> ModelReply:
        """Rebuild from :meth:`plain`; anything else is a :class:`StoreError`."""
        try:
            return cls(
                **{
                    **data,
                    "tool_calls": tuple(ToolCall(**call) for call in data["tool_calls"]),
                    "usage": Usage(**data["usage"]),
                    "kept": tuple(data.get("kept", ())),
                }
            )
        except (KeyError, TypeError) as error:
            raise StoreError(
                f"a recorded model reply cannot be read ({type(error).__name__})",
                mend="Delete the journal of this investigation; it is then played again",
            ) from error


def without_kept(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message without what a wire keeps in it: for other wires, and for people."""
    if KEPT not in message:
        return message
    return {key: value for key, value in message.items() if key != KEPT}
