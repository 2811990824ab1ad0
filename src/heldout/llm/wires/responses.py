"""The Responses wire, without state at the provider.

The conversation stays in Chat Completions messages and is translated for each request. What only
this wire has, the model's reasoning above all, comes back as opaque items, travels in the
assistant's message under :data:`~heldout.llm.messages.KEPT`, and is sent back word for word.

The wire has no seed: ``ModelRequest.seed`` is not sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from heldout.llm.messages import KEPT, ModelReply, ModelRequest, ToolCall
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

_ENCRYPTED = "reasoning.encrypted_content"
_FINISH = {"max_output_tokens": "length"}
_SENT_BACK = ("reasoning", "message", "function_call")
_ENDED = ("completed", "incomplete", None)


@dataclass(frozen=True, slots=True)
class ResponsesWire:
    """``encrypted`` asks for the model's reasoning in a form that can be sent back."""

    encrypted: bool = True
    name: ClassVar[str] = "responses"
    title: ClassVar[str] = "Responses"
    path: ClassVar[str] = "/responses"

    def encode(self, model: ModelName, request: ModelRequest) -> bytes:
        """The request's body."""
        body: dict[str, Any] = {
            "model": model.name,
            "input": [item for message in request.messages for item in _items(message)],
            "store": False,
        }
        if self.encrypted:
            body["include"] = [_ENCRYPTED]
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice:
            body["tool_choice"] = _tool_choice(request.tool_choice)
        if model.effort:
            body["reasoning"] = {"effort": model.effort}
        if request.max_output_tokens is not None:
            body["max_output_tokens"] = request.max_output_tokens
        if (schema := request.response_schema) is not None:
            body["text"] = {
                "format": {
                    "type": "json_schema",
                    "name": "answer",
                    "strict": is_strict(schema),
                    "schema": schema,
                }
            }
        return dumped(body)

    def decode(self, raw: bytes, *, where: str, sent_bytes: int) -> ModelReply:
        """Texts, calls and reasoning of the output; a body without one is no answer."""
        data = loaded(raw, where, self.title)
        if data.get("error") or data.get("status") == "failed":
            raise answer_failed(data.get("error"))
        cut = data.get("incomplete_details")
        reason = cut.get("reason") if isinstance(cut, dict) else None
        if reason == "content_filter":
            raise filtered(where)
        output = data.get("output")
        incomplete = data.get("status") == "incomplete"
        if not isinstance(output, list) or not (output or incomplete):
            raise protocol("an answer without output", where, self.title)
        if data.get("status") not in _ENDED or not all(isinstance(one, dict) for one in output):
            raise protocol("an answer that is not finished", where, self.title)
        text, refusal = _said(output)
        calls, kept = self._calls(output, where)
        finish = "tool_calls" if calls else "stop"
        if incomplete:
            finish = _FINISH.get(str(reason), str(reason or "length"))
        return ModelReply(
            text=text,
            tool_calls=calls,
            finish_reason=finish,
            usage=usage_of(
                data.get("usage"), "input_tokens", "output_tokens", sent_bytes, len(raw)
            ),
            served_model=served_name(data.get("model")),
            refusal=refusal,
            kept=_worth_keeping(kept),
        )

    def relaxed(self, refusal: str) -> ResponsesWire | None:
        """Models without reasoning refuse to be asked for it in encrypted form."""
        told = refusal.casefold()
        about = "encrypted content is not supported" in told or _ENCRYPTED in told
        return ResponsesWire(encrypted=False) if self.encrypted and about else None

    def _calls(
        self, output: Sequence[Mapping[str, Any]], where: str
    ) -> tuple[tuple[ToolCall, ...], list[dict[str, Any]]]:
        """The calls, and all items with the calls' ids as they are used from here on."""
        taken: dict[str, ToolCall] = {}
        items: list[dict[str, Any]] = []
        for item in output:
            kept = {key: value for key, value in item.items() if value is not None}
            if item.get("type") == "function_call":
                given, arguments = item.get("name"), item.get("arguments", "")
                call = tool_call(item.get("call_id"), given, arguments, taken, where, self.title)
                kept |= {"call_id": call.id, "arguments": call.arguments}
            items.append(kept)
        return tuple(taken.values()), items


def _items(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    role = message.get("role")
    content = text_of(message.get("content"))
    if role == "tool":
        call_id = message.get("tool_call_id")
        yield {"type": "function_call_output", "call_id": call_id, "output": content}
        return
    kept = [one for one in message.get(KEPT, ()) if one.get("type") in _SENT_BACK]
    yield from kept
    # A message whose text was kept, or was read as a call, is not sent a second time.
    if content and not any(item.get("type") == "message" for item in kept):
        yield {"type": "message", "role": role, "content": content}
    sent = {item.get("call_id") for item in kept}
    for call in message.get("tool_calls") or ():
        if call["id"] not in sent:
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    # Without a word on strictness this wire takes a schema as strict, which most are not.
    return {"type": "function", "strict": False, **tool["function"]}


def _tool_choice(choice: str) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "name": choice}


def _said(output: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Text and refusal of all messages of the output."""
    text: list[str] = []
    refusal: list[str] = []
    for item in output:
        if item.get("type") != "message":
            continue
        content = item.get("content")
        text.append(text_of(content))
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(part.get("refusal"), str):
                refusal.append(part["refusal"])
    return "".join(text), "".join(refusal)


def _worth_keeping(items: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The items to send back: none where a plain translation of the message says the same.

    Reasoning without its content is only a name of something that the provider has not stored;
    the ids of what it belonged to are then dropped with it.
    """
    items = [one for one in items if one.get("type") in _SENT_BACK]
    usable = [one for one in items if one.get("type") != "reasoning" or _has_content(one)]
    while usable and usable[-1]["type"] == "reasoning":  # Refused without what it led to.
        usable.pop()
    if not any(one["type"] == "reasoning" or "phase" in one for one in usable):
        return ()
    if len(usable) < len(items):
        usable = [{key: value for key, value in one.items() if key != "id"} for one in usable]
    return tuple(
        {key: value for key, value in one.items() if key != "status"}
        if one["type"] == "reasoning"
        else one
        for one in usable
    )


def _has_content(item: Mapping[str, Any]) -> bool:
    return bool(item.get("encrypted_content") or item.get("content"))
