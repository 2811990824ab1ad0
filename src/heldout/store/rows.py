"""How rows become parameters: checked against the table, scrubbed of secrets, deduplicated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from heldout.errors import StoreError
from heldout.store.secrets import Scrubber

Row = Mapping[str, Any]
Columns = dict[str, tuple[str, bool]]
"""Of one table: (DuckDB type, may be NULL) by column name, in order."""

STAMPS = frozenset({"at", "created", "started"})
"""Columns that are set to now when a row leaves them out."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "blobs": ("hash",),
    "dictionaries": ("scope",),
    "brains": ("hash",),
    "runs": ("run",),
    "investigations": ("run", "incident", "arm", "repeat", "attempt"),
    "verdicts": ("run", "incident", "arm", "repeat", "attempt", "judge", "at"),
    "looks": ("score", "incident", "model"),
}
"""Tables in which the first row of a key is the only one: handing it over again does nothing."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "VARCHAR": (str,),
    "BIGINT": (int,),
    "INTEGER": (int,),
    "DOUBLE": (float, int),
    "BOOLEAN": (bool,),
    "BLOB": (bytes,),
}


def encode_row(
    table: str, columns: Columns, row: Row, stamp: int, scrub: Scrubber
) -> tuple[Any, ...]:
    """One row as a tuple in column order; what does not fit is a :class:`StoreError`."""
    unknown = [name for name in row if name not in columns]
    if unknown:
        raise _misfit(table, unknown[0], f"there is no such column; it has {', '.join(columns)}")
    values = []
    for name, (kind, nullable) in columns.items():
        value = row.get(name)
        if value is None and name in STAMPS:
            value = stamp
        if value is None:
            if not nullable:
                raise _misfit(table, name, "a value is needed")
        elif name.endswith("_json") and not isinstance(value, str):
            value = scrub(_json(table, name, value))
        elif not isinstance(value, _TYPES[kind]) or (
            isinstance(value, bool) != (kind == "BOOLEAN")
        ):
            raise _misfit(table, name, f"{type(value).__name__} is not {kind}")
        elif isinstance(value, str):
            value = scrub(_storable(value))
        values.append(value)
    return tuple(values)


def insert_statement(
    table: str, columns: Columns, rows: list[tuple[Any, ...]]
) -> tuple[str, list[Any]]:
    """An INSERT of rows, and a list per column; rows whose key is there already are left out."""
    keys = KEYS.get(table)
    if keys:
        places = [list(columns).index(key) for key in keys]
        rows = list({tuple(row[i] for i in places): row for row in reversed(rows)}.values())[::-1]
    # A list per column: to plan a parameter per value took most of a commit's time.
    lists = ", ".join(
        f'unnest(CAST(? AS {kind}[])) AS "{name}"' for name, (kind, _) in columns.items()
    )
    names = ", ".join(f'"{name}"' for name in columns)
    named = ", ".join(f'"{key}"' for key in keys or ())
    unseen = f" ANTI JOIN {table} USING ({named})" if keys else ""
    sql = f"INSERT INTO {table} ({names}) SELECT {names} FROM (SELECT {lists}) AS new"
    return sql + unseen, [list(column) for column in zip(*rows, strict=True)]


def _storable(text: str) -> str:
    """Text as DuckDB takes it: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _json(table: str, name: str, value: Any) -> str:
    try:
        return _storable(json.dumps(value, sort_keys=True, ensure_ascii=False))
    except (TypeError, ValueError) as error:
        raise _misfit(table, name, f"it is not plain data ({error})") from error


def _misfit(table: str, column: str, why: str) -> StoreError:
    return StoreError(
        f"a row does not fit column '{column}': {why}",
        where=f"ledger, table {table}",
        mend="This is a mistake in heldout; please report it",
    )
