"""DuckDB as worlds use it: in memory, one thread, UTC, and nothing fetched.

Making a database costs as much CPU time as writing the log lines of a world, so those that are no
longer needed are used again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
    # Columns of objects hold texts: no need to look at a thousand to find out.
    con.execute("set pandas_analyze_sample = 0")
    return con


def quoted(path: Path) -> str:
    """A path as SQL names it."""
    return "'" + str(path).replace("'", "''") + "'"


_shared: dict[int, duckdb.DuckDBPyConnection] = {}
_idle: list[tuple[int, duckdb.DuckDBPyConnection]] = []
_lock = threading.Lock()
_MOST_IDLE = 8


@contextmanager
def scratch() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for temporary tables, which end with the block.

    The database behind it is made once in a process. Only temporary tables and views may be made
    in it, since all else is shared.
    """
    with _lock:
        known = _shared.get(os.getpid())
        if known is None:
            known = _shared[os.getpid()] = connect()
        con = known.cursor()
    try:
        yield con
    finally:
        con.close()


def lease() -> duckdb.DuckDBPyConnection:
    """An empty database of one's own that can read no file, its configuration locked."""
    with suppress(IndexError):
        while True:
            owner, con = _idle.pop()
            if owner == os.getpid():
                return con
    con = connect()
    con.execute("set enable_external_access = false")
    con.execute("set lock_configuration = true")
    return con


def give_back(con: duckdb.DuckDBPyConnection) -> None:
    """Let a leased database, which must be empty again, be leased anew."""
    if len(_idle) < _MOST_IDLE:
        _idle.append((os.getpid(), con))
