"""An investigation as it went: what the model said, what it called, what the harness told it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from heldout.agent.trace import Step, Trace


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. ``step`` is set for a call that was run."""

    kind: Literal["said", "call", "not run", "harness"]
    text: str = ""
    step: Step | None = None
    asked: str = ""
    """The arguments as the model wrote them, where the step could not take them in."""


def events(trace: Trace) -> tuple[Event, ...]:
    """What happened after the alert, in order.

    Every step is in it once, also where the conversation was rebuilt and holds no word of it.
    """
    return tuple(_walk(trace.messages, list(trace.steps)))


def _walk(messages: Sequence[Mapping[str, Any]], steps: list[Step]) -> Iterator[Event]:
    waiting = 0
    """Calls that the model made in its text and whose answer comes as a message of the user's."""
    asked: dict[str, str] = {}
    for message in messages[_beginning(messages) :]:
        content = str(message.get("content") or "")
        if message.get("role") == "assistant":
            thought, written = _said(content)
            waiting = written if not message.get("tool_calls") else 0
            asked = _arguments(message)
            if thought:
                yield Event("said", thought)
        elif message.get("role") == "tool":
            if _beyond_limit(content) or not steps:
                yield Event("not run", content)
            else:
                step = steps.pop(0)
                given = "" if step.args else asked.get(str(message.get("tool_call_id")), "")
                yield Event("call", step=step, asked=given)
        elif waiting and steps:
            waiting = 0
            step = steps.pop(0)
            yield Event("call", step=step)
            if step.answer and step.answer in content:
                rest = content.replace(step.answer, "", 1).strip()
                if rest:
                    yield Event("harness", rest)
        else:
            yield Event("harness", content)
    for step in steps:
        yield Event("call", step=step)


def _arguments(message: Mapping[str, Any]) -> dict[str, str]:
    """The written arguments of each call in a reply, by the call's id."""
    return {
        str(call.get("id")): str((call.get("function") or {}).get("arguments") or "")
        for call in message.get("tool_calls") or []
    }


def _beginning(messages: Sequence[Mapping[str, Any]]) -> int:
    """Where the conversation goes on after the prompt and the alert."""
    roles = [message.get("role") for message in messages]
    return roles.index("user") + 1 if "user" in roles else len(roles)


def _said(content: str) -> tuple[str, int]:
    """What a reply said in words, and whether it was a step written as JSON."""
    try:
        plain = json.loads(content)
    except (ValueError, RecursionError):
        return content.strip(), 0
    if isinstance(plain, dict) and "tool" in plain:
        return str(plain.get("thought") or "").strip(), 1
    return content.strip(), 0


def _beyond_limit(content: str) -> bool:
    return error_of(parsed(content)).get("type") == "limit_reached"


def parsed(answer: str) -> Mapping[str, Any]:
    """A tool's answer as an object; empty where it is something else."""
    try:
        plain = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}


def error_of(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The typed error in an answer; empty where there is none."""
    error = answer.get("error")
    return error if isinstance(error, dict) else {}


def rows_of(answer: Mapping[str, Any]) -> list[Any]:
    """The rows of an answer."""
    rows = answer.get("rows")
    return rows if isinstance(rows, list) else []
