"""Tool calls that a model wrote into its text instead of into ``tool_calls``.

Small open models answer with ``{"name": ..., "arguments": {...}}`` in a fence or in
``<tool_call>`` tags. Only a text that holds exactly one such object naming an offered tool counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace

from heldout.llm.messages import ModelReply, ToolCall

_LONGEST = 20_000
"""Characters of text that are looked at."""

_WRAPPED = re.compile(
    r"```(?:json|tool_call)?[ \t]*\n(?P<fence>.*?)\n?```|<tool_call>(?P<tag>.*?)</tool_call>",
    re.DOTALL,
)


def with_text_call(reply: ModelReply, tools: Collection[str]) -> ModelReply:
    """The reply with its one textual call made native; unchanged where there is none."""
    if reply.tool_calls or not reply.text or len(reply.text) > _LONGEST:
        return reply
    found = [match["fence"] or match["tag"] or "" for match in _WRAPPED.finditer(reply.text)]
    calls = [call for text in found or [reply.text] if (call := _call(text, tools))]
    if len(calls) != 1:
        return reply
    return replace(reply, text="", tool_calls=(calls[0],), finish_reason="tool_calls", kept=())


def _call(text: str, tools: Collection[str]) -> ToolCall | None:
    try:
        data = json.loads(text.strip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    name = data.get("name")
    arguments = data.get("arguments", data.get("parameters"))
    if not isinstance(name, str) or name not in tools or not isinstance(arguments, dict):
        return None
    return ToolCall("call_text", name, json.dumps(arguments))
