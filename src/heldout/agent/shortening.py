"""Making texts shorter so that what is left can still be read."""

from __future__ import annotations

import json
from typing import Any

from heldout.agent.prompt import CUT_TEXT

_LONG_VALUE = 160
"""Characters of one value in a row that is shortened."""


def cut(text: str, limit: int) -> str:
    """The text's beginning and end with a word between them on how much is missing."""
    if len(text) <= limit:
        return text
    mark = CUT_TEXT.format(size=len(text))
    room = max(0, limit - len(mark))
    tail = room // 4
    return (text[: room - tail] + mark + text[len(text) - tail :])[: max(limit, 0)]


def slim(answer: str) -> str:
    """A tool's answer without those of its outermost members that say nothing, rows aside."""
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return answer
    if not isinstance(data, dict) or "rows" not in data:
        return answer
    kept = {
        name: one
        for name, one in data.items()
        if name == "rows" or not (one is None or one is False or one in ([], {}, ""))
    }
    return _dumps(kept) if len(kept) < len(data) else answer


def shortened(answer: str, limit: int) -> str:
    """A tool's answer in at most ``limit`` characters.

    Long values are cut, then the longest list of the JSON object loses rows from its end and the
    object says how many. What is no such object is cut as text.
    """
    if len(answer) <= limit:
        return answer
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return cut(answer, limit)
    lists = [name for name, value in data.items() if value and isinstance(value, list)] if (
        isinstance(data, dict)
    ) else []  # fmt: skip
    if not lists:
        return cut(answer, limit)
    name = max(lists, key=lambda one: len(data[one]))
    rows = [_trimmed(row) for row in data[name]]
    sizes = [len(_dumps(row)) + 1 for row in rows]
    rest = {key: _trimmed(value) for key, value in data.items() if key != name}
    frame = len(_dumps({**rest, name: [], "rows_cut": len(rows)}))
    kept, used = 0, frame
    while kept < len(rows) and used + sizes[kept] <= limit:
        used += sizes[kept]
        kept += 1
    if not kept:
        return cut(answer, limit)
    short: dict[str, Any] = {**rest, name: rows[:kept]}
    if kept < len(rows):
        short["rows_cut"] = len(rows) - kept
    return _dumps(short)


def _trimmed(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return cut(value, _LONG_VALUE)
    if depth < 4 and isinstance(value, dict):
        return {key: _trimmed(one, depth + 1) for key, one in value.items()}
    if depth < 4 and isinstance(value, list):
        return [_trimmed(one, depth + 1) for one in value]
    return value


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
