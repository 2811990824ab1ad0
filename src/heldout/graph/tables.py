"""The tables of a world in a database of its own, put there when a query names them.

Most questions are answered from arrays; those in SQL are for what searches text and for what is
asked in many ways. Of the log the last lines are put there first, since most searches are about
what was said shortly before now.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

import duckdb
import numpy as np

from heldout.graph.columns import Column
from heldout.graph.database import give_back, lease
from heldout.graph.lines import LogLines
from heldout.graph.schema import IN_DATABASE, TABLES
from heldout.graph.stored import Stored

_TAIL = 2 * 20_480
"""So many of the last lines are put there first: two row groups of the file."""

_SLICE = 20 * 20_480
"""So many lines are put there at once: recorded worlds have more than memory should hold twice."""

_NAMES = re.compile(rf"\b(?:{'|'.join(IN_DATABASE)})\b")


@lru_cache(maxsize=256)
def _named(sql: str) -> frozenset[str]:
    return frozenset(_NAMES.findall(sql))


class Tables:
    """A database that can read no file, with the tables of one world. Safe to use from threads."""

    def __init__(self, stored: Stored, lines: LogLines, now: int) -> None:
        self._stored = stored
        self._lines = lines
        self._now = now
        self._lock = threading.Lock()
        self._there: set[str] = set()
        self._first_line = len(lines.times)
        self._database: duckdb.DuckDBPyConnection | None = None

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of one's own, of use as long as this object is."""
        with self._lock:
            return self._open().cursor()

    def need(self, sql: str) -> None:
        """Put there every table that a query names."""
        named = _named(sql)
        if named - self._there - {"log"}:
            with self._lock:
                for name in sorted(named - self._there - {"log"}):
                    self._put(name)
        if "log" in named:
            self.need_lines(0)

    def need_lines(self, first: int) -> None:
        """Put there the lines from row ``first`` on, those before as it comes; ids count from 1."""
        if first >= self._first_line:
            return
        with self._lock:
            end = self._first_line
            begin = max(0, len(self._lines.times) - _TAIL)
            begin = begin if begin <= first else 0
            if begin >= end:
                return
            for start in range(begin, end, _SLICE):
                self._put_lines(start, min(start + _SLICE, end))
            self._first_line = begin

    def _put_lines(self, first: int, end: int) -> None:
        given = {
            "id": np.arange(first + 1, end + 1, dtype=np.int64),
            "ts": self._lines.times[first:end],
            "template_id": self._lines.pattern_ids[first:end],
            "msg": self._stored.texts(first, end),
        }
        self._insert("log", given)

    def _put(self, name: str) -> None:
        columns = [column for column, _ in TABLES[name]]
        given = self._stored.columns(name, columns)
        if name == "alert":
            given = {column: values[given["ts"] <= self._now] for column, values in given.items()}
        self._create(name)
        if len(given[columns[0]]):
            self._insert(name, given)
        self._there.add(name)

    def _create(self, name: str) -> None:
        columns = ", ".join(f'"{column}" {kind}' for column, kind in TABLES[name])
        self._open().execute(f"create table {name} ({columns})")

    def _insert(self, name: str, given: Mapping[str, Column]) -> None:
        con = self._open()
        con.register("given", given)
        listed = ", ".join(f'"{column}"' for column, _ in TABLES[name])
        con.execute(f"insert into {name} select {listed} from given")
        con.unregister("given")

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self._database is None:
            self._database = lease()
            self._create("log")
            weakref.finalize(self, _empty, self._database).atexit = False
        return self._database


def _empty(database: duckdb.DuckDBPyConnection) -> None:
    """Called when nobody can ask any more."""
    with suppress(duckdb.Error):
        for (name,) in database.execute("select table_name from duckdb_tables()").fetchall():
            database.execute(f"drop table {name}")
        give_back(database)
