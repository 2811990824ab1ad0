"""Chat Completions responses, with token counts that a real service might have reported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def _size(message: Any) -> int:
    if not isinstance(message, dict):
        return 0
    calls = message.get("tool_calls")
    size = len(str(message.get("content") or ""))
    return size + sum(len(str(call)) for call in (calls if isinstance(calls, list) else ())) + 16


def _usage(body: Mapping[str, Any], answer: str) -> dict[str, Any]:
    given, tools = body.get("messages"), body.get("tools")
    messages = given if isinstance(given, list) else []
    schema = 220 * len(tools) if isinstance(tools, list) else 0
    sizes = [_size(message) for message in messages]
    sent = (sum(sizes) + schema) // 4
    known = max((at for at, message in enumerate(messages) if _is_reply(message)), default=0)
    cached = (sum(sizes[:known]) + schema) // 4 if known else 0
    return {
        "prompt_tokens": sent,
        "completion_tokens": len(answer) // 4 + 12,
        "total_tokens": sent + len(answer) // 4 + 12,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _clean(text: str) -> str:
    """Text without lone surrogates, which no JSON writer takes."""
    return text.encode("utf-8", "replace").decode()


def _is_reply(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") == "assistant"


def _response(
    body: Mapping[str, Any], message: dict[str, Any], finish: str, key: str
) -> dict[str, Any]:
    answer = str(message.get("content") or "") + json.dumps(message.get("tool_calls") or [])
    return {
        "id": "chatcmpl-" + key,
        "object": "chat.completion",
        "created": 0,
        "model": _clean(str(body.get("model") or "")),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(body, answer),
    }


def _key(body: Mapping[str, Any], text: str) -> str:
    messages = body.get("messages")
    turn = len(messages) if isinstance(messages, list) else 0
    seed = f"{body.get('model')}\x1f{body.get('seed')}\x1f{turn}\x1f{text}"
    return hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:20]


def call_reply(
    body: Mapping[str, Any], tool: str, args: Mapping[str, Any], why: str
) -> dict[str, Any]:
    """A response that calls one tool and says in a sentence why."""
    arguments = _clean(json.dumps(args, ensure_ascii=False))
    key = _key(body, f"{tool}{arguments}")
    message = {
        "role": "assistant",
        "content": _clean(why),
        "tool_calls": [
            {
                "id": "call_" + key,
                "type": "function",
                "function": {"name": tool, "arguments": arguments},
            }
        ],
    }
    return _response(body, message, "tool_calls", key)


def text_reply(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A response that only says something."""
    return _response(body, {"role": "assistant", "content": _clean(text)}, "stop", _key(body, text))
