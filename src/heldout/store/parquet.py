"""Tables as Parquet files, for whoever reads results with other tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from heldout.errors import StoreError
from heldout.store.rows import insert_statement
from heldout.store.secrets import Scrubber

_CHUNK = 200
"""Rows per INSERT."""

Kinds = Mapping[str, str]
"""DuckDB's type of each column, in order: VARCHAR, BIGINT, INTEGER, DOUBLE, BOOLEAN."""


def write_parquet(path: Path, kinds: Kinds, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to one file, which must not exist, and return how many; texts are scrubbed.

    A row's missing keys are NULL, others than the columns' are left out. Rows go through a
    database beside the file, so that a large table needs no memory. A failure is a
    :class:`StoreError` and leaves nothing.
    """
    scratch = path.with_name(f".{path.name}.scratch")
    scrub = Scrubber()
    columns = {name: (kind, True) for name, kind in kinds.items()}
    count = 0
    source = iter(rows)
    try:
        with duckdb.connect(str(scratch), config={"threads": "2"}) as con:
            names = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
            con.execute(f"CREATE TABLE kept ({names})")
            con.begin()
            while chunk := list(islice(source, _CHUNK)):
                values = [tuple(_clean(row.get(name), scrub) for name in kinds) for row in chunk]
                con.execute(*insert_statement("kept", columns, values))
                count += len(chunk)
            con.commit()
            target = str(path).replace("'", "''")
            con.execute(f"COPY kept TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
    except (duckdb.Error, OSError) as error:
        path.unlink(missing_ok=True)
        raise StoreError(
            f"a Parquet file could not be written ({str(error).splitlines()[0][:200]})",
            where=str(path),
            mend="Free space, or name a folder that can be written",
        ) from error
    finally:
        for left in path.parent.glob(f"{scratch.name}*"):
            left.unlink(missing_ok=True)
    return count


def _clean(value: Any, scrub: Scrubber) -> Any:
    if not isinstance(value, str):
        return value
    return scrub(value.encode("utf-8", "replace").decode("utf-8"))
