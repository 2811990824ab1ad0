"""The content digest of a world: over what it says, not over the bytes of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import numpy as np

from heldout.graph.schema import IN_DATABASE, SCHEMA_VERSION, TABLES

_TEXT_BYTES = 8 * 1024 * 1024
"""So much of the lines' text is in memory at once."""

Values = np.ndarray[tuple[int], np.dtype[np.float32]]


def counts_of(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """The number of rows of every table but ``metric_value``."""
    row = con.execute(
        "select " + ", ".join(f"(select count(*) from {name})" for name in IN_DATABASE)
    ).fetchone()
    return dict(zip(IN_DATABASE, row or (), strict=True))


def content_digest(
    con: duckdb.DuckDBPyConnection,
    values: Values | Iterator[Values],
    head: Mapping[str, Any],
    *,
    points: int = 0,
) -> str:
    """sha256 over ``head`` and every row of every table in stored order.

    ``values`` are the rows of ``metric_value``, gaps as the one NaN: all, or ``points`` in slices;
    ``con`` has the other tables. Column by column: numbers as little-endian bytes, texts as their
    lengths and their bytes.
    """
    total = hashlib.sha256()
    total.update(json.dumps({"schema": SCHEMA_VERSION, **head}, sort_keys=True).encode())
    slices = iter((values,)) if isinstance(values, np.ndarray) else values
    count = len(values) if isinstance(values, np.ndarray) else points
    total.update(f"\nmetric_value {count}".encode())
    for part in slices:
        total.update(np.ascontiguousarray(part, dtype="<f4").data)
    for name, count in counts_of(con).items():
        total.update(f"\n{name} {count}".encode())
        if not count:
            continue
        texts = [column for column, kind in TABLES[name] if kind == "VARCHAR"]
        for column in _numbers(con, name):
            total.update(column)
        if name == "log":
            for text in _log_texts(con):
                total.update(text.encode())
        elif texts:
            joined = ", ".join(f"coalesce(string_agg(\"{one}\", ''), '')" for one in texts)
            for text in con.execute(f"select {joined} from {name}").fetchone() or ():
                total.update(str(text).encode())
    return total.hexdigest()


def _numbers(con: duckdb.DuckDBPyConnection, name: str) -> Iterator[memoryview]:
    """The numbers of a table and the lengths of its texts, column by column."""
    named = [
        f'strlen("{column}")::INTEGER' if kind == "VARCHAR" else f'"{column}"'
        for column, kind in TABLES[name]
    ]
    # Of the lines one column at a time: recorded ones are many.
    for group in [[one] for one in named] if name == "log" else [named]:
        listed = ", ".join(f"{expression} as n{i}" for i, expression in enumerate(group))
        for column in con.execute(f"select {listed} from {name}").fetchnumpy().values():
            yield np.ascontiguousarray(column).data


def _log_texts(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The texts of all lines in order, joined, a part at a time."""
    lengths = con.execute("select strlen(msg)::BIGINT as n from log").fetchnumpy()["n"]
    ends = np.cumsum(np.ascontiguousarray(lengths))
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + _TEXT_BYTES, side="right")))
        row = con.execute(
            "select coalesce(string_agg(msg, ''), '') from log where id between ? and ?",
            [first + 1, end],
        ).fetchone()
        yield str((row or ("",))[0])
        first = end
