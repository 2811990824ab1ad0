"""The Chat Completions wire: a request as bytes, a response's bytes as a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from heldout.errors import ProviderFiltered, ProviderProtocol
from heldout.llm.messages import ModelReply, ModelRequest, ToolCall, Usage
from heldout.llm.names import ModelName

BYTES_PER_TOKEN = 4
"""For estimates where the provider sends no usage."""


def encode(model: ModelName, request: ModelRequest) -> bytes:
    """The request's body."""
    body: dict[str, Any] = {"model": model.name, "messages": request.messages}
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
    if request.response_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": request.response_schema},
        }
    try:
        return orjson.dumps(body, default=_plain)
    except TypeError:
        # Lone surrogates of hostile text are no UTF-8; everything else goes through as it is.
        return orjson.dumps(_scrubbed(body))


def decode(raw: bytes, *, where: str, sent_bytes: int) -> ModelReply:
    """The reply in a response's body, without price and times.

    Half or invalid JSON, a body without choices or with a malformed one is a
    :class:`ProviderProtocol`; a filtered answer is a :class:`ProviderFiltered`.
    """
    data = _loads(raw, where)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _protocol("an answer without choices", where)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise _protocol("an answer whose choice has no message", where)
    finish = choice.get("finish_reason")
    if finish == "content_filter":
        raise ProviderFiltered(
            "the provider's filter withheld the answer",
            where=where,
            mend="It counts as invalid; look at the alert and the brain for what set it off",
        )
    refusal = message.get("refusal")
    return ModelReply(
        text=_text(message.get("content")),
        tool_calls=_tool_calls(message.get("tool_calls"), where),
        finish_reason=finish if isinstance(finish, str) else "",
        usage=_usage(data.get("usage"), sent_bytes, len(raw)),
        served_model=_name(data.get("model")),
        refusal=refusal if isinstance(refusal, str) else "",
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def _tool_choice(choice: str) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_scrubbed(str(key)): _scrubbed(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(one) for one in value]
    return value


def _loads(raw: bytes, where: str) -> dict[str, Any]:
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError:
        # A lone surrogate in a model's text is refused by orjson and worth keeping the answer for.
        try:
            data = _scrubbed(json.loads(raw, parse_constant=_no_constant))
        except (ValueError, RecursionError) as error:
            raise _protocol("an answer that is not JSON", where) from error
    if not isinstance(data, dict):
        raise _protocol("an answer that is no JSON object", where)
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _protocol(what: str, where: str) -> ProviderProtocol:
    return ProviderProtocol(
        f"the provider sent {what}",
        where=where,
        mend="Check that the base URL speaks Chat Completions",
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _tool_calls(raw: Any, where: str) -> tuple[ToolCall, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise _protocol("tool calls that are no list", where)
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for position, item in enumerate(raw):
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise _protocol("a tool call without a function name", where)
        arguments = function.get("arguments", "")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        call_id = item.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in taken:
            call_id = f"call_{position}"
        taken.add(call_id)
        calls.append(
            ToolCall(
                id=call_id,
                name=function["name"],
                arguments=arguments if isinstance(arguments, str) else "",
            )
        )
    return tuple(calls)


def _usage(raw: Any, sent_bytes: int, received_bytes: int) -> Usage:
    if not isinstance(raw, dict) or not _counts(raw, "prompt_tokens", "completion_tokens"):
        return Usage(
            input_tokens=sent_bytes // BYTES_PER_TOKEN,
            output_tokens=received_bytes // BYTES_PER_TOKEN,
            estimated=True,
        )
    entered, left = raw["prompt_tokens"], raw["completion_tokens"]
    return Usage(
        input_tokens=entered,
        output_tokens=left,
        cached_tokens=min(_detail(raw, "prompt_tokens_details", "cached_tokens"), entered),
        reasoning_tokens=min(_detail(raw, "completion_tokens_details", "reasoning_tokens"), left),
    )


def _counts(raw: Mapping[str, Any], *names: str) -> bool:
    return all(type(raw.get(name)) is int and raw[name] >= 0 for name in names)


def _detail(raw: Mapping[str, Any], group: str, name: str) -> int:
    details = raw.get(group)
    return details[name] if isinstance(details, dict) and _counts(details, name) else 0


def _name(raw: Any) -> str:
    if not isinstance(raw, str):
        return ""
    return "".join(char for char in raw[:200] if char.isprintable())
