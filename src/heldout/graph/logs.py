"""Log lines: rendered in SQL from blocks, and the patterns that they show.

The pattern of a line is its text with numbers, addresses and long ids masked. It is made the same
way for rendered blocks and for single lines, so that nothing tells one from the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import duckdb
import numpy as np

from heldout.errors import WorldError
from heldout.graph.schema import LogBlock

HOLE = "<*>"
_SLOT = re.compile(r"\{([01])\}")
_VARIABLE = re.compile(
    r"(?<![\w-])(?:"
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d+(?:\.\d+){3}(?::\d+)?"
    r"|0x[0-9a-fA-F]+"
    r"|(?=[a-f]*\d)[0-9a-f]{8,}"
    r"|[-+]?\d+(?:[.,]\d+)*(?:ns|us|µs|ms|s|m|h|d|%|[kKMGT]i?B?|B)?"
    r")(?![\w-])"
)


@lru_cache(maxsize=4096)
def masked(message: str) -> str:
    """The message with what varies from line to line masked as ``<*>``."""
    return _VARIABLE.sub(HOLE, message)


def pattern_of(template: str) -> str:
    """The pattern of a template's lines: its holes masked, and what would vary in its text."""
    return masked(_SLOT.sub(HOLE, template))


class _Template(NamedTuple):
    entity: str
    level: str
    text: str


class _Columns(NamedTuple):
    ts: np.ndarray[tuple[int], np.dtype[np.int64]]
    template: np.ndarray[tuple[int], np.dtype[np.int32]]
    arg0: np.ndarray[tuple[int], np.dtype[np.int64]]
    arg1: np.ndarray[tuple[int], np.dtype[np.int64]]


class Lines(NamedTuple):
    """Log lines by time, before they are rendered: each has its pattern and what fills its holes.

    ``templates`` are the columns of a table with one row for each template, ``patterns`` those of
    ``log_template``.
    """

    ts: np.ndarray[tuple[int], np.dtype[np.int64]]
    template: np.ndarray[tuple[int], np.dtype[np.int32]]
    pattern: np.ndarray[tuple[int], np.dtype[np.int32]]
    arg0: np.ndarray[tuple[int], np.dtype[np.int64]]
    arg1: np.ndarray[tuple[int], np.dtype[np.int64]]
    templates: Mapping[str, np.ndarray[tuple[int], np.dtype[np.generic]]]
    patterns: Mapping[str, Sequence[Any]]


_NO_NUMBERS = np.empty(0, dtype=np.int64)


def arrange_lines(blocks: Sequence[LogBlock], lines: Sequence[tuple[int, str, str, str]]) -> Lines:
    """All lines by time; those of one time in the order in which they are given."""
    templates: list[_Template] = []
    parts = [_Columns(_NO_NUMBERS, _NO_NUMBERS.astype(np.int32), _NO_NUMBERS, _NO_NUMBERS)]
    for block in blocks:
        parts.append(_block_columns(block, len(templates)))
        templates.extend(
            _Template(entity, level, text)
            for entity, level, text in zip(
                block.template_entity, block.template_level, block.templates, strict=True
            )
        )
    literal_from = len(templates)
    parts.append(_line_columns(lines, templates))
    merged = _Columns(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    order = np.argsort(merged.ts, kind="stable")
    ids, patterns = _patterns(templates, literal_from)
    template = merged.template[order]
    return Lines(
        merged.ts[order],
        template,
        np.array(ids, dtype=np.int32)[template],
        merged.arg0[order],
        merged.arg1[order],
        _template_columns(templates, literal_from),
        patterns,
    )


def render_lines(con: duckdb.DuckDBPyConnection, lines: Lines) -> None:
    """Make the temporary table ``log``: every line rendered, ids from 1 in order of time."""
    given = lines._asdict()
    con.register("given_template", given.pop("templates"))
    del given["patterns"]
    con.register("given_line", {"id": np.arange(1, len(lines.ts) + 1, dtype=np.int64), **given})
    many = bool(lines.templates["many"].any())
    con.execute(f"create temp table log as {_lines(any_many=many)}")
    if con.execute("select 1 from log where id <> rowid + 1 limit 1").fetchone():
        # The join kept another order than that of the lines, as it may when they are few.
        con.execute("create or replace temp table log as select * from log order by id")
    con.unregister("given_line")
    con.unregister("given_template")


def _lines(*, any_many: bool) -> str:
    """SQL for the lines; texts with more than two holes take a way of their own, if there are any.

    Sorting would cost a third of it all, so the order is only looked at afterwards.
    """
    message = (
        "concat(t.head, case t.first when 0 then l.arg0 when 1 then l.arg1 end, "
        "t.middle, case t.second when 0 then l.arg0 when 1 then l.arg1 end, t.tail)"
    )
    if any_many:
        message = (
            "case when t.many then replace(replace(t.head, '{0}', l.arg0::VARCHAR), "
            f"'{{1}}', l.arg1::VARCHAR) else {message} end"
        )
    return (
        f"select l.id, l.ts, l.pattern as template_id, {message} as msg "
        "from given_line l join given_template t on l.template = t.template"
    )


def _block_columns(block: LogBlock, offset: int) -> _Columns:
    template = np.asarray(block.template, dtype=np.int32)
    lengths = {len(block.ts), len(template), len(block.arg0), len(block.arg1)}
    if len(lengths) != 1:
        raise WorldError(
            "the columns of a log block differ in length",
            where="LogBlock",
            mend="Give each line a time, a template and two arguments",
        )
    if len(template) and not 0 <= int(template.min()) <= int(template.max()) < len(block.templates):
        raise WorldError(
            "a log line names a template that is not in its block",
            where="LogBlock",
            mend=f"Templates are numbered 0 to {len(block.templates) - 1}",
        )
    return _Columns(
        np.asarray(block.ts, dtype=np.int64),
        (template + np.int32(offset)).astype(np.int32),
        np.asarray(block.arg0, dtype=np.int64),
        np.asarray(block.arg1, dtype=np.int64),
    )


def _line_columns(
    lines: Sequence[tuple[int, str, str, str]], templates: list[_Template]
) -> _Columns:
    known: dict[_Template, int] = {}
    index = np.empty(len(lines), dtype=np.int32)
    for row, (_, entity, level, message) in enumerate(lines):
        template = _Template(entity, level, message)
        if template not in known:
            known[template] = len(templates)
            templates.append(template)
        index[row] = known[template]
    none = np.zeros(len(lines), dtype=np.int64)
    return _Columns(np.array([line[0] for line in lines], dtype=np.int64), index, none, none)


def _patterns(
    templates: Sequence[_Template], literal_from: int
) -> tuple[list[int], dict[str, list[Any]]]:
    """The pattern of each template, and the columns of ``log_template``.

    Patterns are numbered by entity, text and level, so that a number tells nothing of its making.
    """
    return numbered(
        [
            (template.entity, (pattern_of if index < literal_from else masked)(template.text),
             template.level)
            for index, template in enumerate(templates)
        ]
    )  # fmt: skip


def numbered(keys: Sequence[tuple[str, str, str]]) -> tuple[list[int], dict[str, list[Any]]]:
    """The number of each pattern (entity, text, level), and the columns of ``log_template``.

    Numbers follow from the patterns alone, whatever order they come in; equal ones share theirs.
    """
    rows = sorted(set(keys))
    numbers = {key: number for number, key in enumerate(rows, start=1)}
    columns: dict[str, list[Any]] = {
        "id": list(range(1, len(rows) + 1)),
        "entity_id": [row[0] for row in rows],
        "level": [row[2] for row in rows],
        "template": [row[1] for row in rows],
    }
    return [numbers[key] for key in keys], columns


def _texts(values: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _template_columns(
    templates: Sequence[_Template], literal_from: int
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    heads, middles, tails, firsts, seconds, many = [], [], [], [], [], []
    for index, template in enumerate(templates):
        pieces = [template.text] if index >= literal_from else _SLOT.split(template.text)
        over = len(pieces) > 5
        pieces = [template.text] if over else pieces
        pieces += [""] * (5 - len(pieces))
        heads.append(pieces[0])
        firsts.append(int(pieces[1] or -1))
        middles.append(pieces[2])
        seconds.append(int(pieces[3] or -1))
        tails.append(pieces[4])
        many.append(over)
    return {
        "template": np.arange(len(templates), dtype=np.int32),
        "head": _texts(heads),
        "first": np.array(firsts, dtype=np.int8),
        "middle": _texts(middles),
        "second": np.array(seconds, dtype=np.int8),
        "tail": _texts(tails),
        "many": np.array(many, dtype=np.bool_),
    }
