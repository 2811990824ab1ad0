"""The tables of a world as they are asked for: columns as arrays, as far as could be known at now.

A table is read when it is first asked for, straight from its file, since most questions are about
few tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from heldout.errors import WorldError
from heldout.graph.columns import Column
from heldout.graph.database import scratch
from heldout.graph.files import MANIFEST, read_values, reading
from heldout.graph.known import ENTANGLED, WHEN_KNOWN, Known
from heldout.graph.schema import IN_DATABASE, TABLES


class Stored:
    """One world's tables on disk, read as needed.

    What cannot be read, or lies in a folder that was replaced meanwhile, is a :class:`WorldError`.
    """

    def __init__(self, directory: Path, now: int) -> None:
        self._directory = directory
        self._mark = self._marked()
        self._kept: Mapping[str, Mapping[str, Column]] = {}
        self._known: Known | None = None
        later = self._later(now)
        if later:
            self._known = Known(self._read, now, later)

    def columns(self, name: str, wanted: Sequence[str]) -> dict[str, Column]:
        """Some columns of a table in stored order; texts as objects."""
        kept = self._kept.get(name)
        if kept is not None:
            return {column: kept[column] for column in wanted}
        if self._known is not None and name in ENTANGLED:
            return self._known.columns(name, wanted)
        return self._read(name, wanted)

    def texts(self, first: int, end: int) -> Column:
        """The texts of the lines from row ``first`` to before ``end``."""
        kept = self._kept.get("log")
        if kept is not None:
            return kept["msg"][first:end]
        return self._read("log", ("msg",), [(first, end)])["msg"]

    def _read(
        self, name: str, wanted: Sequence[str], spans: Sequence[tuple[int, int]] = ()
    ) -> dict[str, Column]:
        self._check()
        with scratch() as con, reading(self._directory, name, wanted, spans=spans) as source:
            found: dict[str, Column] = con.execute(source).fetchnumpy()
        return found

    def rows(self, name: str, wanted: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """The same as plain rows; all columns when none is named."""
        names = wanted or [column for column, _ in TABLES[name]]
        if name in self._kept or (self._known is not None and name in ENTANGLED):
            found = self.columns(name, names)
            return list(zip(*(found[column].tolist() for column in names), strict=True))
        self._check()
        with scratch() as con, reading(self._directory, name, names) as source:
            return con.execute(source).fetchall()

    def keep(self) -> None:
        """Read every table now, so that the folder may go."""
        kept = {
            name: self.columns(name, [column for column, _ in TABLES[name]]) for name in IN_DATABASE
        }
        self._kept = {**kept, "metric_value": {"v": self.values()}}

    def values(self, spans: Sequence[tuple[int, int]] = ()) -> Column:
        """The rows of ``metric_value``, gaps as NaN: all, or of ascending spans that lie apart."""
        kept = self._kept.get("metric_value")
        if kept is not None:
            parts = [kept["v"][first:end] for first, end in spans]
            return np.concatenate(parts) if parts else kept["v"]
        self._check()
        with scratch() as con:
            return read_values(con, self._directory, spans)

    def _later(self, now: int) -> tuple[str, ...]:
        """The entangled tables with rows that could not be known at ``now``."""
        with scratch() as con:
            try:
                latest = con.execute(f"select {', '.join(map(self._latest, WHEN_KNOWN))}")
            except duckdb.Error:
                for name in ENTANGLED:  # Which of them it was, in words.
                    self.rows(name)
                raise
            found = latest.fetchone() or ()
        return tuple(
            name
            for name, moment in zip(WHEN_KNOWN, found, strict=True)
            if moment is not None and moment > now
        )

    def _latest(self, name: str) -> str:
        with reading(self._directory, name, (WHEN_KNOWN[name],)) as source:
            return f"(select max({WHEN_KNOWN[name]}) from ({source}))"

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
