"""A tool's call and answer on a few lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from heldout.agent.prompt import MALFORMED
from heldout.agent.trace import Step
from heldout.transcript.events import error_of, parsed, rows_of

SHORT_ROWS = 3
SHORT_LINES = 8
SHORT_ROW = 150
SHORT_TEXT = 400
"""Rows, lines of a command's text, characters of a row and of a text that is no JSON, unless all
is asked for."""
LONGEST = 100_000
_QUIET = ("confidence", "provenance", "actor_kind", "source", "total_estimate")
"""Fields of a row that are left out of a short line."""


def call_words(step: Step, asked: str = "") -> str:
    """The tool and its arguments: ``list_changes since=2026-03-04 types=["deploy"]``.

    ``asked`` is what the model wrote instead, where its arguments could not be taken in.
    """
    args: Mapping[str, Any] = step.args or parsed(asked)
    if MALFORMED in args:
        args, asked = {}, str(args[MALFORMED])
    words = [f"{name}={_value(value)}" for name, value in args.items()]
    return " ".join([step.tool, *(words or [_cut(asked, SHORT_TEXT)])]).strip()


def answer_lines(step: Step, *, full: bool = False) -> Iterator[str]:
    """What came back: the figures of the answer, then its rows, shortened unless ``full``."""
    answer = parsed(step.answer)
    error = error_of(answer)
    if error or step.is_error:
        yield error_words(error) if error else f"error: {_cut(step.answer, SHORT_TEXT)}"
        return
    if isinstance(answer.get("output"), str):
        yield from _output(answer, full)
        return
    if "rows" not in answer:
        text = step.answer if full else _cut(step.answer, SHORT_TEXT)
        yield text or "(empty answer)"
        return
    rows = rows_of(answer)
    yield _figures(answer, len(rows))
    for row in rows if full else rows[:SHORT_ROWS]:
        yield f"- {_row(row, full)}"
    if not full and len(rows) > SHORT_ROWS:
        yield f"  ({len(rows) - SHORT_ROWS} more rows came back)"


def _output(answer: Mapping[str, Any], full: bool) -> Iterator[str]:
    """Text as a command prints it: its figures, then its lines."""
    lines = str(answer["output"]).split("\n")
    yield _figures(answer, int(answer.get("total_estimate") or 0), "item")
    for line in lines if full else lines[:SHORT_LINES]:
        yield f"| {line if full else _cut(line, SHORT_ROW)}"
    if not full and len(lines) > SHORT_LINES:
        yield f"  ({len(lines) - SHORT_LINES} more lines came back)"


def error_words(error: Mapping[str, Any]) -> str:
    """A refusal on one line, with the names that would have worked."""
    near = error.get("near") or []
    more = f" (near: {', '.join(str(one) for one in near)})" if near else ""
    return f"refused, {error.get('type', 'error')}: {error.get('message', '')}{more}"


def _figures(answer: Mapping[str, Any], rows: int, what: str = "row") -> str:
    total = answer.get("total_estimate")
    parts = [f"no {what}s" if not rows else f"{rows} {what}{'s' if rows > 1 else ''}"]
    if isinstance(total, int) and total > rows:
        parts[0] += f" of {total}"
    if answer.get("truncated"):
        parts.append("cut, cursor given")
    window = answer.get("window_used")
    if isinstance(window, dict):
        parts.append(f"window {window.get('since')} to {window.get('until')}")
    if answer.get("outside_window"):
        parts.append(f"{answer['outside_window']} outside the window")
    for gap in answer.get("data_gaps") or []:
        if isinstance(gap, dict):
            parts.append(f"gap in {gap.get('source')}: {gap.get('note')}")
    return " · ".join(parts)


def _row(row: Any, full: bool) -> str:
    if not isinstance(row, dict):
        return _cut(_value(row), LONGEST if full else SHORT_ROW)
    words = [
        f"{name}={_value(value)}"
        for name, value in row.items()
        if full or (name not in _QUIET and value not in (None, "", [], {}))
    ]
    return _cut(" ".join(words), LONGEST if full else SHORT_ROW)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value if value and " " not in value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} …"


def names_of(steps: tuple[Step, ...]) -> dict[str, str]:
    """The names that answers gave to ids."""
    found: dict[str, str] = {}
    for step in steps:
        _collect(parsed(step.answer), found)
    return found


def _collect(value: Any, found: dict[str, str]) -> None:
    if isinstance(value, list):
        for one in value:
            _collect(one, found)
    elif isinstance(value, dict):
        for key, name in (("id", "name"), ("entity", "entity_name")):
            if isinstance(value.get(key), str) and isinstance(value.get(name), str):
                found.setdefault(value[key], value[name])
        for one in value.values():
            if isinstance(one, dict | list):
                _collect(one, found)
