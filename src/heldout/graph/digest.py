"""The content digest of a world: over what it says, not over the bytes of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np

from heldout.graph.schema import IN_DATABASE, SCHEMA_VERSION, TABLES


def counts_of(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """The number of rows of every table but ``metric_value``."""
    row = con.execute(
        "select " + ", ".join(f"(select count(*) from {name})" for name in IN_DATABASE)
    ).fetchone()
    return dict(zip(IN_DATABASE, row or (), strict=True))


def content_digest(
    con: duckdb.DuckDBPyConnection,
    values: np.ndarray[tuple[int], np.dtype[np.float32]],
    head: Mapping[str, Any],
) -> str:
    """sha256 over ``head`` and every row of every table in stored order.

    ``values`` are the rows of ``metric_value``, gaps as the one NaN; ``con`` has the other tables.
    Column by column: numbers as little-endian bytes, texts as their lengths and their bytes.
    """
    total = hashlib.sha256()
    total.update(json.dumps({"schema": SCHEMA_VERSION, **head}, sort_keys=True).encode())
    total.update(f"\nmetric_value {len(values)}".encode())
    total.update(np.ascontiguousarray(values, dtype="<f4").data)
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
        for numbered in con.execute(f"select {named} from {name}").fetchnumpy().values():
            total.update(np.ascontiguousarray(numbered).data)
        if texts:
            row = con.execute(f"select {', '.join(texts)} from {name}").fetchone() or ()
            for text in row:
                total.update(str(text).encode())
    return total.hexdigest()
