"""Answers in the format of the Responses wire, for the server in :mod:`tests.llm.wire`."""

from __future__ import annotations

import json
from typing import Any

from tests.llm.wire import Reply, body

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 110,
}


def message(text: str, **more: Any) -> dict[str, Any]:
    """An output message."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
        **more,
    }


def refusal(text: str) -> dict[str, Any]:
    """An output message with a refusal part."""
    return message("", content=[{"type": "refusal", "refusal": text}])


def reasoning(number: int = 1, secret: str | None = "gAAAA=") -> dict[str, Any]:
    """A reasoning item, encrypted unless ``secret`` is ``None``."""
    return {
        "id": f"rs_{number}",
        "type": "reasoning",
        "summary": [],
        "encrypted_content": secret,
        "content": None,
        "status": None,
    }


def function_call(name: str, arguments: str, call_id: str = "call_a") -> dict[str, Any]:
    """A tool call."""
    return {
        "id": f"fc_{call_id}",
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def answer(*output: dict[str, Any], usage: Any = USAGE, **more: Any) -> dict[str, Any]:
    """A response."""
    data = {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "fake",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }
    return data if usage is None else {**data, "usage": usage}


def says(*output: dict[str, Any], **more: Any) -> Reply:
    """A reply with these items."""
    return body(answer(*output, **more))


def text(content: str, **more: Any) -> Reply:
    """A reply in words."""
    return says(message(content), **more)


def call(name: str, /, **arguments: Any) -> Reply:
    """A reply with one tool call."""
    return says(function_call(name, json.dumps(arguments)))


def cut(reason: str, *output: dict[str, Any]) -> Reply:
    """A reply that is incomplete for a reason."""
    return says(*output, status="incomplete", incomplete_details={"reason": reason})


def failed(code: str, said: str = "no") -> Reply:
    """A response that failed at the provider, told with the status of a success."""
    return says(status="failed", error={"code": code, "message": said})
