"""DuckDB as worlds use it: in memory, one thread, UTC, and nothing fetched."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


def connect() -> duckdb.DuckDBPyConnection:
    """An in-memory database with one thread, in UTC, that never fetches an extension."""
    con = duckdb.connect(
        ":memory:",
        config={
            "threads": 1,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    con.execute("set TimeZone = 'UTC'")
    return con


_shared: dict[int, duckdb.DuckDBPyConnection] = {}
_lock = threading.Lock()


@contextmanager
def scratch() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for temporary tables, which end with the block.

    The database behind it is made once in a process: making one costs as much CPU time as writing
    the log lines of a world. Only temporary tables and views may be made in it, since all else is
    shared.
    """
    with _lock:
        known = _shared.get(os.getpid())
        if known is None:
            known = _shared[os.getpid()] = connect()
            # Columns of objects hold texts: no need to look at a thousand to find out.
            known.execute("set pandas_analyze_sample = 0")
        con = known.cursor()
    try:
        yield con
    finally:
        con.close()
