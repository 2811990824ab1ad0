"""Log lines: rendered in SQL from blocks, and the patterns that they show.

The pattern of a line is its text with numbers, addresses and long ids masked. It is made the same
way for rendered blocks and for single lines, so that nothing tells one from the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

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


def pattern_of(message: str) -> str:
    """The message with what varies from line to line masked as ``<*>``."""
    return _VARIABLE.sub(HOLE, _SLOT.sub(HOLE, message))


class _Template(NamedTuple):
    entity: str
    level: str
    text: str


class _Columns(NamedTuple):
    ts: np.ndarray[tuple[int], np.dtype[np.int64]]
    template: np.ndarray[tuple[int], np.dtype[np.int32]]
    arg0: np.ndarray[tuple[int], np.dtype[np.int64]]
    arg1: np.ndarray[tuple[int], np.dtype[np.int64]]


def render_logs(
    con: duckdb.DuckDBPyConnection,
    blocks: Sequence[LogBlock],
    lines: Sequence[tuple[int, str, str, str]],
) -> None:
    """Fill ``log`` and ``log_template``: all lines by time, ids from 1 in that order."""
    templates: list[_Template] = []
    parts: list[_Columns] = []
    for block in blocks:
        parts.append(_block_columns(block, len(templates)))
        templates.extend(
            _Template(entity, level, text)
            for entity, level, text in zip(
                block.template_entity, block.template_level, block.templates, strict=True
            )
        )
    literal_from = len(templates)
    if lines:
        parts.append(_line_columns(lines, templates))
    if not parts:
        return
    merged = _Columns(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    order = np.argsort(merged.ts, kind="stable")
    pattern_ids = _store_patterns(con, templates, literal_from)
    con.register(
        "given_line",
        {
            "id": np.arange(1, len(order) + 1, dtype=np.int64),
            "ts": merged.ts[order],
            "template": merged.template[order],
            "arg0": merged.arg0[order],
            "arg1": merged.arg1[order],
        },
    )
    con.register("given_template", _template_columns(templates, literal_from, pattern_ids))
    con.execute(
        """
        insert into log
        select l.id, l.ts, t.entity_id, t.level, t.pattern,
            case when t.many then replace(replace(t.head, '{0}', l.arg0::VARCHAR),
                                          '{1}', l.arg1::VARCHAR)
            else concat(t.head, case t.first when 0 then l.arg0 when 1 then l.arg1 end,
                        t.middle, case t.second when 0 then l.arg0 when 1 then l.arg1 end,
                        t.tail) end
        from given_line l join given_template t on l.template = t.template
        order by l.id
        """
    )
    con.unregister("given_line")
    con.unregister("given_template")


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


def _store_patterns(
    con: duckdb.DuckDBPyConnection, templates: Sequence[_Template], literal_from: int
) -> list[int]:
    """Number patterns by entity and text, so that a number says nothing of how a line was made."""
    keys = [
        (
            template.entity,
            pattern_of(template.text)
            if index < literal_from
            else _VARIABLE.sub(HOLE, template.text),
        )
        for index, template in enumerate(templates)
    ]
    numbers = {key: number for number, key in enumerate(sorted(set(keys)), start=1)}
    rows = sorted(numbers)
    con.register(
        "given",
        {
            "id": np.arange(1, len(rows) + 1, dtype=np.int32),
            "entity_id": _texts([row[0] for row in rows]),
            "template": _texts([row[1] for row in rows]),
        },
    )
    con.execute("insert into log_template select id, entity_id, template from given order by id")
    con.unregister("given")
    return [numbers[key] for key in keys]


def _texts(values: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _template_columns(
    templates: Sequence[_Template], literal_from: int, pattern_ids: Sequence[int]
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
        "entity_id": _texts([template.entity for template in templates]),
        "level": _texts([template.level for template in templates]),
        "pattern": np.array(pattern_ids, dtype=np.int32),
        "head": _texts(heads),
        "first": np.array(firsts, dtype=np.int8),
        "middle": _texts(middles),
        "second": np.array(seconds, dtype=np.int8),
        "tail": _texts(tails),
        "many": np.array(many, dtype=np.bool_),
    }
