"""Whether the model calls tools natively, and goes on with what comes back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject
from heldout.llm.messages import ToolCall

TURNS = 3
_SECRET = "team-heron-41"
_ALERT = (
    "# Checkout answers with errors\n\n"
    "Find out with search_entities who owns the entity 'checkout', then name the owner to "
    "submit_diagnosis. Use the tools; write no prose."
)


def _tool(name: str, description: str, argument: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"}}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [argument],
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


TOOLS = (
    _tool("search_entities", "Find entities by name; tells their owner.", "query"),
    _tool("submit_diagnosis", "Name the owner and end the task.", "mechanism"),
)
_NAMES = ("search_entities", "submit_diagnosis")
_FOUND = json.dumps({"rows": [{"id": "service:checkout", "owner": _SECRET}]})
_NOT_YET = json.dumps({"error": "look the entity up first"})


@dataclass(frozen=True, slots=True)
class Tools:
    """An alert, one look-up, one submission: what an agent does, in two turns or three."""

    name: ClassVar[str] = "tools"
    title: ClassVar[str] = "native tool calls"
    cost: ClassVar[Cost] = Cost(TURNS, TURNS * 400, TURNS * ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Yes when calls are well-formed and the turn after a tool's answer is answered too."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": _ALERT}]
        facts = {"turns": 0, "used_result": False, "reasoning_kept": False}
        for turn in range(1, TURNS + 1):
            reply = await subject.ask(messages, tools=TOOLS)
            facts["reasoning_kept"] |= bool(reply.kept)
            if not reply.tool_calls:
                break
            if wrong := _wrong(reply.tool_calls):
                return Finding(self.name, self.title, "no", wrong, facts)
            facts["turns"] = turn
            text = "".join(call.arguments for call in reply.tool_calls)
            if turn > 1 and _SECRET in text:
                facts["used_result"] = True
                break
            messages.append(reply.message())
            for call in reply.tool_calls:
                told = _FOUND if call.name == _NAMES[0] else _NOT_YET
                messages.append({"role": "tool", "tool_call_id": call.id, "content": told})
        if not facts["turns"]:
            said = "it answered in words where a call was asked for"
            return Finding(self.name, self.title, "no", said, facts)
        facts["used_result"] |= _SECRET in reply.text
        used = (
            "went on with what came back" if facts["used_result"] else "made no use of the answer"
        )
        return Finding(self.name, self.title, "yes", f"well-formed, and {used}", facts)


def _wrong(calls: tuple[ToolCall, ...]) -> str:
    for call in calls:
        if call.name not in _NAMES:
            return f"it called '{call.name[:60]}', which was not offered"
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return "the arguments of its call are no JSON object"
    return ""
