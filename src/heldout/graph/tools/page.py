"""Answers: rows in one envelope, never longer than 8 KiB, nothing lost to the cut.

A row that does not fit ends the page and the cursor goes on with it. An answer of a single row
(one entity, one change) is cut inside the row, at its ``part``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from heldout.graph.tools.refusals import Refusal
from heldout.interface import ToolAnswer

MAX_BYTES = 8 * 1024
DEFAULT_ROWS = 20
MAX_ROWS = 50

_ID = re.compile(r"(?:[ecam]-[0-9a-f]{8}|l-[0-9]{1,18})")
_ANY_ID = re.compile(rf"\b{_ID.pattern}\b")
_ID_KEYS = frozenset({"id", "entity", "change_id", "example_id", "series", "via_id"})
_CURSOR = re.compile(r"([0-9a-f]{1,9})-([0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, both ends included, in microseconds."""

    since: int
    until: int

    def shown(self) -> dict[str, str]:
        """As it appears in an answer."""
        return {"since": iso(self.since), "until": iso(self.until)}


@dataclass(frozen=True, slots=True)
class Page:
    """What a tool found: ``rows`` start at ``offset`` of ``total``.

    With ``part``, there is one row and ``offset`` and ``total`` count the items of that key.
    """

    rows: Sequence[Mapping[str, Any]]
    total: int
    offset: int = 0
    window: Window | None = None
    gaps: Sequence[Mapping[str, Any]] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    part: str = ""


def iso(microseconds: int) -> str:
    """A time as ``2026-03-04T12:00:00Z``."""
    moment = datetime.fromtimestamp(microseconds // 1_000_000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def clip(text: str, longest: int) -> str:
    """The text, cut with a note of how much is missing."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}...[{len(text) - longest} more characters]"


def clip_value(value: Any, longest: int = 400) -> Any:
    """A JSON value; one that is long in JSON becomes clipped text."""
    if isinstance(value, str):
        return clip(value, longest)
    if isinstance(value, Mapping | list):
        dumped = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        return value if len(dumped) <= longest else clip(dumped, longest)
    return value


def query_mark(tool: str, args: Mapping[str, Any]) -> str:
    """What ties a cursor to its query: the tool and all arguments but page size and cursor."""
    asked = {key: args[key] for key in sorted(args) if key not in ("cursor", "limit")}
    return hashlib.sha256(repr((tool, asked)).encode()).hexdigest()[:8]


def write_cursor(offset: int, mark: str) -> str:
    """An opaque place in the result of a query."""
    return f"{offset:x}-{mark}"


def read_cursor(cursor: str | None, mark: str) -> int:
    """The offset in a cursor; another query's cursor is a :class:`Refusal`."""
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor.strip())
    if match is None or match[2] != mark:
        raise Refusal(
            "bad_argument",
            "'cursor' does not belong to this query: repeat the other arguments unchanged, or "
            "leave it out to start anew",
        )
    try:
        return int(match[1], 16)
    except ValueError as error:
        raise Refusal("bad_argument", "'cursor' is malformed: leave it out to start") from error


def answer(page: Page, mark: str) -> ToolAnswer:
    """The page as JSON text within the size cap."""
    head = _envelope(page, [], None)
    room = MAX_BYTES - len(orjson.dumps(head)) - 32
    if page.part and page.rows:
        rows, shown = _cut_part(page, room)
    else:
        rows, shown = _cut_rows(page.rows, room)
    reached = page.offset + shown
    cursor = write_cursor(reached, mark) if reached < page.total else None
    text = orjson.dumps(_envelope(page, rows, cursor)).decode()
    return ToolAnswer(text=text, shown_ids=tuple(dict.fromkeys(_ids([*rows, page.extra]))))


def _envelope(page: Page, rows: Sequence[Any], cursor: str | None) -> dict[str, Any]:
    return {
        "rows": rows,
        "total_estimate": 1 if page.part and page.rows else page.total,
        "truncated": cursor is not None,
        "cursor": cursor,
        "window_used": page.window.shown() if page.window else None,
        "data_gaps": list(page.gaps),
        **page.extra,
    }


def _cut_rows(rows: Sequence[Mapping[str, Any]], room: int) -> tuple[list[Any], int]:
    kept: list[Any] = []
    for row in rows:
        size = len(orjson.dumps(row)) + 1
        if size > room:
            if kept:
                break
            row = _squeezed(row, room)
            size = room
        kept.append(row)
        room -= size
    return kept, len(kept)


def _squeezed(row: Mapping[str, Any], room: int) -> dict[str, Any]:
    """One row that is too long alone: its longest values shortened until it fits."""
    small = dict(row)
    while len(orjson.dumps(small)) + 1 > room:
        longest = max(small, key=lambda key: len(orjson.dumps(small[key])))
        dumped = small[longest]
        if not isinstance(dumped, str):
            dumped = orjson.dumps(dumped).decode()
        small[longest] = clip(dumped, max(40, len(dumped) // 2 - 60))
    return small


def _cut_part(page: Page, room: int) -> tuple[list[Any], int]:
    row = dict(page.rows[0])
    items = row[page.part]
    pairs = list(items.items()) if isinstance(items, Mapping) else list(items)
    row[page.part] = {} if isinstance(items, Mapping) else []
    room -= len(orjson.dumps(row))
    kept: list[Any] = []
    for item in pairs:
        size = len(orjson.dumps(item)) + 2
        if size > room:
            if kept:
                break
            item = _squeezed_item(item, room)
            size = room
        kept.append(item)
        room -= size
    row[page.part] = dict(kept) if isinstance(items, Mapping) else kept
    return [row], len(kept)


def _squeezed_item(item: Any, room: int) -> Any:
    if isinstance(item, tuple):
        return item[0], _squeezed(item[1], room - len(item[0]) - 8)
    return _squeezed(item, room)


def ids_in(text: str) -> tuple[str, ...]:
    """Every id in a text, in order, each once."""
    return tuple(dict.fromkeys(_ANY_ID.findall(text)))


def _ids(value: Any) -> list[str]:
    """The ids under the keys for them, at any depth; answers are plain JSON data."""
    found: list[str] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str):
                if key in _ID_KEYS and _ID.fullmatch(inner):
                    found.append(inner)
            elif isinstance(inner, dict | list | tuple):
                found.extend(_ids(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            if isinstance(inner, dict | list | tuple):
                found.extend(_ids(inner))
    return found
