"""The tables of a world as they are asked for: columns as arrays, as far as could be known at now.

A table is read when it is first asked for, straight from its file, since most questions are about
few tables. Where something was observed after now, the tables that tell of it are read at once and
freed of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from heldout.errors import WorldError
from heldout.graph.database import scratch
from heldout.graph.files import MANIFEST, load_tables, read_values, reading
from heldout.graph.known import ENTANGLED, forget_unknown, later_than
from heldout.graph.schema import IN_DATABASE, TABLES

Column = np.ndarray[Any, Any]


class Stored:
    """One world's tables on disk, read as needed.

    What cannot be read, or lies in a folder that was replaced meanwhile, is a :class:`WorldError`.
    """

    def __init__(self, directory: Path, now: int) -> None:
        self._directory = directory
        self._mark = self._marked()
        self._kept: Mapping[str, Mapping[str, Column]] = {}
        with scratch() as con:
            later = self._later(con, now)
            if later:
                load_tables(con, directory, ENTANGLED)
                forget_unknown(con, now, later)
                self._kept = {
                    name: con.execute(f"select * from {name}").fetchnumpy() for name in ENTANGLED
                }

    def columns(self, name: str, wanted: Sequence[str], *, first: int = 0) -> dict[str, Column]:
        """Some columns of a table in stored order, from row ``first`` on; texts as objects."""
        kept = self._kept.get(name)
        if kept is not None:
            return {column: kept[column][first:] for column in wanted}
        self._check()
        with scratch() as con, reading(self._directory, name, wanted, first=first) as source:
            found: dict[str, Column] = con.execute(source).fetchnumpy()
        return found

    def rows(self, name: str, wanted: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """The same as plain rows; all columns when none is named."""
        names = wanted or [column for column, _ in TABLES[name]]
        kept = self._kept.get(name)
        if kept is not None:
            return list(zip(*(kept[column].tolist() for column in names), strict=True))
        self._check()
        with scratch() as con, reading(self._directory, name, names) as source:
            return con.execute(source).fetchall()

    def keep(self) -> None:
        """Read every table now, so that the folder may go."""
        kept = {
            name: self.columns(name, [column for column, _ in TABLES[name]]) for name in IN_DATABASE
        }
        self._kept = {**kept, "metric_value": {"v": self.values()}}

    def values(self) -> Column:
        """The rows of ``metric_value``, gaps as NaN."""
        if "metric_value" in self._kept:
            return self._kept["metric_value"]["v"]
        self._check()
        with scratch() as con:
            return read_values(con, self._directory)

    def _later(self, con: duckdb.DuckDBPyConnection, now: int) -> tuple[str, ...]:
        with ExitStack() as stack:
            sources = {
                name: stack.enter_context(reading(self._directory, name)) for name in ENTANGLED
            }
        try:
            return later_than(con, now, sources)
        except duckdb.Error:
            for name in ENTANGLED:  # Which of them it was, in words.
                self.rows(name)
            raise

    def _marked(self) -> tuple[int, int]:
        stat = (self._directory / MANIFEST).stat()
        return stat.st_mtime_ns, stat.st_ino

    def _check(self) -> None:
        """Refuse to go on with another world than the one that was opened."""
        try:
            same = self._marked() == self._mark
        except OSError:
            same = False
        if not same:
            raise WorldError(
                "the world was replaced or taken away while it was in use",
                where=str(self._directory),
                mend="Run 'heldout resume', and let no 'heldout build' run beside it",
            )
