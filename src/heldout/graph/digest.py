"""The content digest of a world: over what it says, not over the bytes of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from heldout.graph.schema import IN_DATABASE, SCHEMA_VERSION, TABLES

_TEXT_BYTES = 8 * 1024 * 1024
"""So much of a large column's text is in memory at once."""

_MANY = 50_000
"""Of a table with so many rows one column is in memory at a time."""

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
        together = len(TABLES[name]) if count < _MANY else 1
        for column in _numbers(con, name, together):
            total.update(column)
        if name == "log":
            for text in _parts(con, name, "msg", "id", 1):
                total.update(text.encode())
        elif count < _MANY:
            for text in _texts(con, name, texts):
                total.update(text.encode())
        else:
            for named in texts:
                for text in _parts(con, name, named, "rowid", 0):
                    total.update(text.encode())
    return total.hexdigest()


def _numbers(con: duckdb.DuckDBPyConnection, name: str, together: int) -> Iterator[memoryview]:
    """The numbers of a table and the lengths of its texts, column by column."""
    named = [
        f'strlen("{column}")::INTEGER' if kind == "VARCHAR" else f'"{column}"'
        for column, kind in TABLES[name]
    ]
    for first in range(0, len(named), together):
        group = named[first : first + together]
        listed = ", ".join(f"{expression} as n{i}" for i, expression in enumerate(group))
        for column in con.execute(f"select {listed} from {name}").fetchnumpy().values():
            yield np.ascontiguousarray(column).data


def _texts(con: duckdb.DuckDBPyConnection, name: str, columns: Sequence[str]) -> Iterator[str]:
    """The joined texts of a table, column by column."""
    joined = ", ".join(f"coalesce(string_agg(\"{one}\", ''), '')" for one in columns)
    for text in con.execute(f"select {joined} from {name}").fetchone() or ():
        yield str(text)


def _parts(
    con: duckdb.DuckDBPyConnection, name: str, column: str, number: str, begins: int
) -> Iterator[str]:
    """The texts of a column in order, joined, a part at a time.

    ``number`` counts the rows from ``begins`` on, as ids of lines and a table's own row ids do.
    """
    lengths = con.execute(f'select strlen("{column}")::BIGINT as n from {name}').fetchnumpy()["n"]
    ends = np.cumsum(np.ascontiguousarray(lengths))
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + _TEXT_BYTES, side="right")))
        row = con.execute(
            f"select coalesce(string_agg(\"{column}\", ''), '') from {name} "
            f"where {number} between ? and ?",
            [first + begins, end - 1 + begins],
        ).fetchone()
        yield str((row or ("",))[0])
        first = end
