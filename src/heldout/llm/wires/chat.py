"""The Chat Completions wire.

Some servers send a model's reasoning beside its answer, and some of those demand it back in the
next turn. It travels in the assistant's message under
:data:`~heldout.llm.messages.KEPT` and goes back word for word, unless the endpoint refuses that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from heldout.llm.messages import KEPT, ModelReply, ModelRequest, ToolCall, without_kept
from heldout.llm.names import ModelName
from heldout.llm.strict import is_strict
from heldout.llm.wires.reading import (
    answer_failed,
    dumped,
    filtered,
    loaded,
    protocol,
    served_name,
    text_of,
    tool_call,
    usage_of,
)

_THOUGHTS = ("reasoning_content", "reasoning_details")
_BESIDE = "chat.beside"
"""Type of what is kept: fields that stood beside a message's own."""


@dataclass(frozen=True, slots=True)
class ChatWire:
    """Messages go out as they are; the first choice comes back.

    ``thoughts`` sends reasoning back where it came.
    """

    thoughts: bool = True
    name: ClassVar[str] = "chat"
    title: ClassVar[str] = "Chat Completions"
    path: ClassVar[str] = "/chat/completions"

    def encode(self, model: ModelName, request: ModelRequest) -> bytes:
        """The request's body."""
        messages: Any = request.messages
        if any(KEPT in message for message in messages):
            messages = [self._message(message) for message in messages]
        body: dict[str, Any] = {"model": model.name, "messages": messages}
        if request.tools:
            body["tools"] = request.tools
        if request.tool_choice:
            body["tool_choice"] = _tool_choice(request.tool_choice)
        if request.seed is not None:
            body["seed"] = request.seed
        if model.effort:
            body["reasoning_effort"] = model.effort
        if request.max_output_tokens is not None:
            limit = "max_completion_tokens" if model.provider == "openai" else "max_tokens"
            body[limit] = request.max_output_tokens
        if (schema := request.response_schema) is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": is_strict(schema), "schema": schema},
            }
        return dumped(body)

    def decode(self, raw: bytes, *, where: str, sent_bytes: int) -> ModelReply:
        """The first choice's message; a body without one is a :class:`ProviderProtocol`."""
        data = loaded(raw, where, self.title)
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices:
            if data.get("error"):
                raise answer_failed(data["error"])
            raise protocol("an answer without choices", where, self.title)
        choice = choices[0]
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise protocol("an answer whose choice has no message", where, self.title)
        finish = choice.get("finish_reason")
        if finish == "content_filter":
            raise filtered(where)
        refusal = message.get("refusal")
        thoughts = {key: message[key] for key in _THOUGHTS if message.get(key)}
        return ModelReply(
            text=text_of(message.get("content")),
            tool_calls=self._tool_calls(message.get("tool_calls"), where),
            finish_reason=finish if isinstance(finish, str) else "",
            usage=usage_of(
                data.get("usage"), "prompt_tokens", "completion_tokens", sent_bytes, len(raw)
            ),
            served_model=served_name(data.get("model")),
            refusal=refusal if isinstance(refusal, str) else "",
            kept=({"type": _BESIDE, "fields": thoughts},) if thoughts else (),
        )

    def relaxed(self, refusal: str) -> ChatWire | None:
        """Some endpoints send reasoning and refuse to have it back."""
        about = any(name in refusal for name in _THOUGHTS) and "passed back" not in refusal
        return ChatWire(thoughts=False) if self.thoughts and about else None

    def _message(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        kept = [one for one in message.get(KEPT, ()) if one.get("type") == _BESIDE]
        message = without_kept(message)
        return {**message, **kept[0]["fields"]} if kept and self.thoughts else message

    def _tool_calls(self, raw: Any, where: str) -> tuple[ToolCall, ...]:
        if raw is None:
            return ()
        if not isinstance(raw, list):
            raise protocol("tool calls that are no list", where, self.title)
        taken: dict[str, ToolCall] = {}
        for item in raw:
            function = item.get("function") if isinstance(item, dict) else None
            if not isinstance(function, dict):
                raise protocol("a tool call without a function name", where, self.title)
            given, arguments = function.get("name"), function.get("arguments", "")
            tool_call(item.get("id"), given, arguments, taken, where, self.title)
        return tuple(taken.values())


def _tool_choice(choice: str) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}
