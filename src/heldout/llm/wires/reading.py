"""What the wires share: bytes in and out, and reading fields that a server may get wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from typing import Any

import orjson

from heldout.errors import ProviderFiltered, ProviderProtocol
from heldout.llm.messages import ToolCall, Usage

BYTES_PER_TOKEN = 4
"""For estimates where the provider sends no usage."""


class AnswerFailed(Exception):
    """A response with a success's status whose body tells of an error.

    ``status`` is the HTTP status that the error would have had.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message


_STATUS = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "insufficient_quota": 429,
    "server_error": 500,
    "vector_store_timeout": 500,
    "overloaded_error": 503,
}


def answer_failed(error: Any) -> AnswerFailed:
    """The error object of a body; a number as its code is the HTTP status."""
    said = error if isinstance(error, Mapping) else {"message": error}
    code, message = said.get("code"), said.get("message")
    if type(code) is int and 400 <= code < 600:
        status, code = code, said.get("type")
    else:
        status = _STATUS.get(str(code), 400 if code else 500)
    return AnswerFailed(status, str(code or ""), str(message or ""))


def dumped(body: Mapping[str, Any]) -> bytes:
    """The body as JSON; lone surrogates of hostile text, which are no UTF-8, become ``?``."""
    try:
        return orjson.dumps(body, default=_plain)
    except TypeError:
        return orjson.dumps(_scrubbed(body))


def loaded(raw: bytes, where: str, title: str) -> dict[str, Any]:
    """The JSON object in a body; anything else is a :class:`ProviderProtocol`."""
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError:
        # A lone surrogate in a model's text is refused by orjson and worth keeping the answer for.
        try:
            data = _scrubbed(json.loads(raw, parse_constant=_no_constant))
        except (ValueError, RecursionError) as error:
            raise protocol("an answer that is not JSON", where, title) from error
    if not isinstance(data, dict):
        raise protocol("an answer that is no JSON object", where, title)
    return data


def protocol(what: str, where: str, title: str) -> ProviderProtocol:
    """The error of a body that is not the wire's format."""
    return ProviderProtocol(
        f"the provider sent {what}",
        where=where,
        mend=f"Check that the base URL speaks {title}",
    )


def filtered(where: str) -> ProviderFiltered:
    """The error of an answer that the provider's filter withheld."""
    return ProviderFiltered(
        "the provider's filter withheld the answer",
        where=where,
        mend="It counts as invalid; look at the alert and the brain for what set it off",
    )


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts with a text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def tool_call(
    call_id: Any, name: Any, arguments: Any, taken: dict[str, ToolCall], where: str, title: str
) -> ToolCall:
    """One call with an id of its own, entered into ``taken``; one without a name is an error."""
    if not isinstance(name, str):
        raise protocol("a tool call without a function name", where, title)
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments)
    if not isinstance(call_id, str) or not call_id or call_id in taken:
        call_id = next(free for n in count(len(taken)) if (free := f"call_{n}") not in taken)
    taken[call_id] = ToolCall(call_id, name, arguments if isinstance(arguments, str) else "")
    return taken[call_id]


def usage_of(raw: Any, entered: str, left: str, sent_bytes: int, received_bytes: int) -> Usage:
    """The counts under the keys ``entered`` and ``left``; an estimate where they are not."""
    if not isinstance(raw, Mapping) or not (_count(raw, entered) and _count(raw, left)):
        return Usage(
            input_tokens=sent_bytes // BYTES_PER_TOKEN,
            output_tokens=received_bytes // BYTES_PER_TOKEN,
            estimated=True,
        )
    cached = _detail(raw, f"{entered}_details", "cached_tokens")
    reasoning = _detail(raw, f"{left}_details", "reasoning_tokens")
    return Usage(
        input_tokens=raw[entered],
        output_tokens=raw[left],
        cached_tokens=min(cached, raw[entered]),
        reasoning_tokens=min(reasoning, raw[left]),
    )


def served_name(raw: Any) -> str:
    """The model's name in a response, made printable."""
    if not isinstance(raw, str):
        return ""
    return "".join(char for char in raw[:200] if char.isprintable())


def _count(raw: Mapping[str, Any], name: str) -> bool:
    return type(raw.get(name)) is int and raw[name] >= 0


def _detail(raw: Mapping[str, Any], group: str, name: str) -> int:
    details = raw.get(group)
    return details[name] if isinstance(details, Mapping) and _count(details, name) else 0


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_scrubbed(str(key)): _scrubbed(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(one) for one in value]
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(name)
