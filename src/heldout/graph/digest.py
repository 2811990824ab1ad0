"""The content digest of a world: over what it says, not over the bytes of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import duckdb
import numpy as np

from heldout.graph.schema import SCHEMA_VERSION, TABLES


def counts_of(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """The number of rows of every table."""
    row = con.execute(
        "select " + ", ".join(f"(select count(*) from {name})" for name in TABLES)
    ).fetchone()
    return dict(zip(TABLES, row or (), strict=True))


def content_digest(
    con: duckdb.DuckDBPyConnection, now: int, start: int, meta: Mapping[str, str]
) -> str:
    """sha256 over every row of every table in stored order, and over times and meta.

    Column by column: numbers as little-endian bytes, texts as their lengths and their bytes, a
    metric's gap as NaN.
    """
    total = hashlib.sha256()
    head = {"schema": SCHEMA_VERSION, "now": now, "start": start, "meta": dict(meta)}
    total.update(json.dumps(head, sort_keys=True).encode())
    for name, count in counts_of(con).items():
        total.update(f"\n{name} {count}".encode())
        if not count:
            continue
        numbers, texts = [], []
        for column, kind in TABLES[name]:
            if kind == "VARCHAR":
                numbers.append(f'strlen("{column}")::INTEGER')
                texts.append(f"coalesce(string_agg(\"{column}\", ''), '')")
            else:
                numbers.append(f'"{column}"')
        named = ", ".join(f"{expression} as n{i}" for i, expression in enumerate(numbers))
        for values in con.execute(f"select {named} from {name}").fetchnumpy().values():
            total.update(_plain(values))
        if texts:
            row = con.execute(f"select {', '.join(texts)} from {name}").fetchone() or ()
            for text in row:
                total.update(str(text).encode())
    return total.hexdigest()


def _plain(values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> bytes:
    if values.dtype.kind == "f":
        values = np.ma.filled(np.ma.asarray(values, dtype="<f4"), np.nan)
    return np.ascontiguousarray(values).tobytes()
