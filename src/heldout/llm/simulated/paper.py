"""Requests without native tools: the tools stand in the system prompt, steps are JSON in the text.

A chat of steps is read in its order. A notebook holds calls with their answers, some of them cut: a
step counts as made when the same call stands there with an answer, wherever it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SESSION = "# This session"
TOOLS = "# Tools"
NOTEBOOK = "\n\n# Notebook\n"
_SIGNATURE = re.compile(r"^([a-z]\w*)\((.*)\)$", re.MULTILINE)
_ARGUMENT = re.compile(r"(\w+)(\??): ([^,]+)")
_ENTRY = re.compile(
    r"^\d+\. (?P<tool>[a-z]\w*) (?P<args>\{.*?\})(?: \(called [^\n]*\))?\n"
    r"(?:thought: .*?\n)?answer: (?P<answer>.*?)(?=\n\n\d+\. |\n\nOther ids|\n\nCalls left|\n\n[A-Z]|\Z)",
    re.MULTILINE | re.DOTALL,
)
_LEFT_OUT = "(left out"
_STEP = json.JSONDecoder()


def call_key(tool: str, args: Mapping[str, Any]) -> str:
    """One text for one call, whatever the order of its arguments."""
    return f"{tool} {json.dumps(args, sort_keys=True)}"


@dataclass(frozen=True, slots=True)
class Paper:
    """What such a request says: the brain, the alert, the tools, and the calls so far."""

    brain: str
    alert: str
    offered: Mapping[str, Mapping[str, Any]]
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    kept: Mapping[str, str] | None = field(default=None)
    """A notebook's answers by call; ``None`` in a chat."""


def read_paper(
    body: Mapping[str, Any], system: str, messages: list[tuple[str, str]]
) -> Paper | None:
    """Read a request that offers its tools in words; ``None`` for any other."""
    brain, session, rest = system.rpartition(SESSION)
    _, heading, sheet = rest.partition(f"\n{TOOLS}\n")
    if body.get("tools") or not session or not heading:
        return None
    offered = {name: _schema(given) for name, given in _SIGNATURE.findall(sheet)}
    first = next((text for role, text in messages if role == "user"), "")
    alert, notebook, page = first.rpartition(NOTEBOOK)
    if notebook:
        found = [match.groupdict() for match in _ENTRY.finditer(page)]
        calls = [(one["tool"], _object(one["args"]), one["answer"]) for one in found]
        return Paper(
            brain,
            alert,
            offered,
            tuple(tool for tool, _, _ in calls),
            tuple(answer for _, _, answer in calls),
            {
                call_key(tool, args): answer
                for tool, args, answer in calls
                if not answer.startswith(_LEFT_OUT)
            },
        )
    called, answers = _chat(messages)
    return Paper(brain, first, offered, called, answers)


def step_text(tool: str, args: Mapping[str, Any], why: str) -> str:
    """A step as such a request asks for it."""
    return json.dumps({"thought": why, "tool": tool, "arguments": args}, ensure_ascii=False)


def _chat(messages: list[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Steps that got an answer, in order, and the answers without what stands behind them."""
    called, answers = [], []
    tool = ""
    for role, text in messages:
        if role == "assistant":
            tool = str(_object(text).get("tool") or "")
        elif role == "user" and tool:
            called.append(tool)
            answers.append(_first_value(text))
            tool = ""
    return tuple(called), tuple(answers)


def _schema(given: str) -> Mapping[str, Any]:
    properties: dict[str, Any] = {}
    required = []
    for name, optional, kind in _ARGUMENT.findall(given):
        kind = "array" if kind.startswith("list") else kind.split(" ")[0]
        properties[name] = {"type": "string" if "|" in kind else kind}
        if not optional:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _first_value(text: str) -> str:
    """The JSON that a message begins with; all of it where it begins with none."""
    try:
        _, end = _STEP.raw_decode(text)
    except (ValueError, RecursionError):
        return text
    return text[:end]
