"""One JSON step out of a model's text: a thought, a tool, its arguments.

Models write it bare, in a fence, in ``<tool_call>`` tags or between sentences, with the keys of
whatever they were trained on. Nothing here knows which tools exist: a wrong name is for the toolbox
to answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import json_repair

LONGEST = 40_000
"""Characters of a reply that are looked at."""
_REPAIRED = 3_000
"""Characters of broken JSON that are repaired: the repair's time grows with their square."""
_THINKING = re.compile(r"\A.*</think>", re.DOTALL)
_WRAPPED = re.compile(
    r"```(?:\w+)?[ \t]*\n?(?P<fence>.*?)\n?[ \t]*```|<tool_call>(?P<tag>.*?)</tool_call>", re.DOTALL
)
_TOOL = ("tool", "name", "function", "action", "tool_name")
_SURE = ("tool", "tool_name")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input", "action_input")
_THOUGHT = ("thought", "thoughts", "reasoning", "reason", "why")
_OTHER = frozenset({"type", "id", *_TOOL, *_THOUGHT})


@dataclass(frozen=True, slots=True)
class StepText:
    """A step as it was written; ``arguments`` is JSON text."""

    tool: str
    arguments: str
    thought: str = ""

    def canonical(self, longest_thought: int = 500) -> str:
        """The step in the form in which it was asked for."""
        try:
            arguments = json.loads(self.arguments)
        except (ValueError, RecursionError):
            arguments = self.arguments
        plain = {
            "thought": self.thought[:longest_thought],
            "tool": self.tool,
            "arguments": arguments,
        }
        return json.dumps(plain, ensure_ascii=False)


def step_schema(tools: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a step. Plain on purpose: servers compile it into a grammar."""
    properties = {
        "thought": {"type": "string"},
        "tool": {"type": "string", "enum": list(tools)},
        "arguments": {"type": "object"},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_steps(text: str, *, whole: bool = True) -> list[StepText]:
    """Every step in a reply, in order; a reply that was not ``whole`` is never repaired."""
    text = _THINKING.sub("", text[:LONGEST])
    inside = wrapped(text)
    for pieces in (inside, [text]):
        found = [step for piece in pieces for value in _objects(piece) for step in steps_of(value)]
        if found:
            return found
    if not whole:
        return []
    for piece in (*inside, text):
        found = steps_of(_repaired(piece))
        if found:
            return found
    return []


def wrapped(text: str) -> list[str]:
    """What stands in fences and in ``<tool_call>`` tags, in order."""
    return [match["fence"] or match["tag"] or "" for match in _WRAPPED.finditer(text)]


def _objects(text: str) -> list[Any]:
    """The JSON objects and lists that stand in a text, outermost ones, in order."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    at = tries = 0
    while tries < 50:
        starts = [start for start in (text.find("{", at), text.find("[", at)) if start >= 0]
        if not starts:
            break
        try:
            value, at = decoder.raw_decode(text, min(starts))
            found.append(value)
        except (ValueError, RecursionError):
            at, tries = min(starts) + 1, tries + 1
    return found


def _repaired(text: str) -> Any:
    """The value of JSON with trailing commas, other quotes or Python's words in it."""
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first or last - first > _REPAIRED:
        return None
    try:
        return json_repair.loads(text[first : last + 1], skip_json_loads=True)
    except (ValueError, RecursionError):
        return None


def steps_of(value: Any) -> list[StepText]:
    """The steps that a JSON value holds: one, a list of them, or a list under ``tool_calls``."""
    if isinstance(value, list):
        return [step for one in value[:50] if isinstance(one, dict) for step in steps_of(one)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("tool_calls"), list):
        return steps_of(value["tool_calls"])
    inner = value.get("function")
    if isinstance(inner, dict):
        return steps_of({**inner, "thought": _first(value, _THOUGHT)})
    tool = _first(value, _TOOL)
    if not isinstance(tool, str) or not tool.strip():
        return []
    given = [name for name in _ARGUMENTS if name in value]
    if not given and not any(name in value for name in _SURE):
        return []  # An object with a name, such as a row of an answer, is no step.
    arguments = value[given[0]] if given else _flat(value)
    thought = _first(value, _THOUGHT)
    return [StepText(tool.strip(), _text(arguments), thought if isinstance(thought, str) else "")]


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that stand beside the tool's name instead of in an object of their own."""
    return {name: one for name, one in value.items() if name not in _OTHER}


def _first(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((value[name] for name in names if name in value), None)


def _text(arguments: Any) -> str:
    if arguments is None:
        return "{}"
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
