"""Tool calls that a model wrote into its text instead of into ``tool_calls``.

Small open models answer with a call in a fence or in ``<tool_call>`` tags although they were
offered tools. Where tools are native only a text that holds exactly one call of an offered tool
counts, and only as the whole of it or of what is wrapped: words around it may make it an example.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace

from heldout.agent.steps import StepText, steps_of, wrapped
from heldout.agent.toolbox import read_arguments
from heldout.llm.messages import ModelReply, ToolCall

_LONGEST = 20_000
"""Characters of text that are looked at."""


def with_text_call(reply: ModelReply, tools: Collection[str]) -> ModelReply:
    """The reply with its one textual call made native; unchanged where there is none."""
    if reply.tool_calls or not reply.text or len(reply.text) > _LONGEST:
        return reply
    pieces = wrapped(reply.text) or [reply.text]
    found = [step for piece in pieces for step in _whole(piece) if step.tool in tools]
    if len(found) != 1 or read_arguments(found[0].arguments) is None:
        return reply
    call = ToolCall("call_text", found[0].tool, found[0].arguments)
    return replace(reply, text="", tool_calls=(call,), finish_reason="tool_calls", kept=())


def _whole(piece: str) -> list[StepText]:
    try:
        return steps_of(json.loads(piece.strip()))
    except (ValueError, RecursionError):
        return []
