"""Log lines and metric values on their way into a world, on disk instead of in memory.

Recorded telemetry is larger than memory should be. It comes in chunks, in any order; lines are
sorted by DuckDB, which spills, when the world is written. A spool lies in a temporary folder (see
``TMPDIR``) that goes with it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import duckdb
import numpy as np

from heldout.errors import WorldError
from heldout.graph.columns import Column, rounded
from heldout.graph.database import connect, quoted
from heldout.graph.logs import numbered

SPOOLED = ("log", "metric_value")
"""The tables that a spool writes."""

MEMORY = "160MB"
"""What the database may hold of lines while it sorts them; the rest lies in the folder."""

SLICE = 2 * 1_966_080
"""So many metric values are in memory at once."""

_ROW_GROUP = 20_480
_ROW_GROUP_BYTES = 32 * 1024 * 1024
_SMALLEST_ROW_GROUP = 2_048
_CHUNK_LAYOUT = "format parquet, compression snappy, row_group_size 20_480, dictionary_size_limit 1"


Span = tuple[int, int]


class Run(NamedTuple):
    """Column of a series, ``step_s`` apart from ``t0`` (microseconds) on."""

    series_id: str
    t0: int
    step_s: int
    points: int
    at: int
    """Where its first value stands in the file of the spool."""

    @property
    def end(self) -> int:
        """The time of the last value."""
        return self.t0 + (self.points - 1) * self.step_s * 1_000_000


class Spool:
    """Lines and values given in chunks, written once as two tables of a world.

    ``patterns`` are (entity, text, level) by the provisional number that lines name; they may
    still change until the world is written. ``line_span`` and ``value_span`` hold the first and the
    last time of a line and of a value, in microseconds.
    """

    def __init__(self) -> None:
        self.patterns: list[tuple[str, str, str]] = []
        self.lines = 0
        self.points = 0
        self.line_span: Span | None = None
        self.value_span: Span | None = None
        self._bytes = 0
        self._chunks: list[Path] = []
        self._runs: list[Run] = []
        with _room("make a temporary folder"):
            self._holder = tempfile.TemporaryDirectory(prefix="heldout-spool-")
            self._folder = Path(self._holder.name)
            self._values: IO[bytes] = (self._folder / "values").open("w+b")
        self._con = connect()
        self._con.execute(f"set memory_limit = '{MEMORY}'")
        self._con.execute(f"set temp_directory = {quoted(self._folder / 'spill')}")

    def add_lines(self, ts: Column, pattern: Column, texts: Sequence[str]) -> None:
        """Take a chunk of lines: times in microseconds, provisional pattern numbers, texts.

        The texts must be free of lone surrogates. Lines of one time stay in the order given.
        """
        if not len(texts):
            return
        column = np.empty(len(texts), dtype=object)
        column[:] = texts
        times = np.asarray(ts, dtype=np.int64)
        given = {
            "seq": np.arange(self.lines, self.lines + len(texts), dtype=np.int64),
            "ts": times,
            "pattern": np.asarray(pattern, dtype=np.int32),
            "msg": column,
        }
        self._con.register("given", given)
        self._keep("select seq, ts, pattern, msg::VARCHAR as msg from given")
        self._con.unregister("given")
        self.lines += len(texts)
        self._bytes += sum(map(len, texts))
        self.line_span = _spread(self.line_span, int(times.min()), int(times.max()))

    def add_values(self, series: str, t0: int, step_s: int, values: Column) -> None:
        """Take values of a series, gaps as NaN; runs of one series may come apart."""
        if not len(values):
            return
        flat = np.ascontiguousarray(values, dtype="<f4")
        with _room("keep metric values"):
            self._values.write(flat.data)
        run = Run(series, t0, step_s, len(flat), self.points)
        self._runs.append(run)
        self.points += len(flat)
        self.value_span = _spread(self.value_span, t0, run.end)

    def take(self, directory: Path) -> None:
        """Begin with the lines, patterns and values of a world, before any others are given."""
        log, templates, chunks, values = (
            f"read_parquet({quoted(directory / f'{name}.parquet')})"
            for name in ("log", "log_template", "metric_chunk", "metric_value")
        )
        with _room("read the world that is there"):
            found = self._con.execute(
                f"select entity_id, template, level from {templates} order by id"
            ).fetchall()
            self.patterns = [*map(tuple, found)]
            [(self.lines, first, last, self._bytes)] = self._con.execute(
                f"select count(*), min(ts), max(ts), coalesce(sum(strlen(msg)), 0) from {log}"
            ).fetchall()
            if self.lines:
                numbers = "id - 1 as seq, ts, (template_id - 1)::INTEGER as pattern"
                self._keep(f"select {numbers}, msg from {log}")
                self.line_span = first, last
            listed = self._con.execute(
                f"select series_id, t0, step_s, points, first from {chunks}"
            ).fetchall()
            for part in self._stored(values):
                self._values.write(part.data)
                self.points += len(part)
        for run in map(Run._make, listed):
            self._runs.append(run)
            self.value_span = _spread(self.value_span, run.t0, run.end)

    def _stored(self, values: str) -> Iterator[Column]:
        [(total,)] = self._con.execute(f"select count(*) from {values}").fetchall()
        source = f"{values[:-1]}, file_row_number = true)"
        for first in range(0, total, SLICE):
            found = self._con.execute(
                f"select v from {source} where file_row_number between ? and ?",
                [first, first + SLICE - 1],
            ).fetchnumpy()["v"]
            yield np.ascontiguousarray(np.ma.filled(found, np.nan), dtype="<f4")

    def _keep(self, query: str) -> None:
        path = self._folder / f"lines-{len(self._chunks):05}.parquet"
        with _room("keep log lines"):
            self._con.execute(f"copy ({query}) to {quoted(path)} ({_CHUNK_LAYOUT})")
        self._chunks.append(path)

    @property
    def span(self) -> Span | None:
        """The first and the last time of anything, in microseconds."""
        if self.line_span is None or self.value_span is None:
            return self.line_span or self.value_span
        return _spread(self.line_span, *self.value_span)

    def columns(self) -> dict[str, dict[str, Any]]:
        """The columns of ``log_template`` and ``metric_chunk``."""
        runs = self._ordered()
        lengths = [run.points for run in runs]
        return {
            "log_template": numbered(self.patterns)[1],
            "metric_chunk": {
                "series_id": [run.series_id for run in runs],
                "t0": [run.t0 for run in runs],
                "step_s": [run.step_s for run in runs],
                "first": np.cumsum([0, *lengths], dtype=np.int64)[:-1],
                "points": lengths,
            },
        }

    def write_lines(self, path: Path, options: str) -> None:
        """Write the table ``log``: by time, ids from 1."""
        numbers = np.array(numbered(self.patterns)[0], dtype=np.int32)
        known = np.arange(len(numbers), dtype=np.int32)
        self._con.register("number", {"pattern": known, "number": numbers})
        chunks = ", ".join(map(quoted, self._chunks))
        lines = (
            f"select seq, ts, number, msg from read_parquet([{chunks}]) join number using (pattern)"
            if chunks
            else "select 0::BIGINT as seq, 0::BIGINT as ts, 0 as number, '' as msg where false"
        )
        mean = self._bytes // max(self.lines, 1) + 1
        rows = max(_SMALLEST_ROW_GROUP, min(_ROW_GROUP, _ROW_GROUP_BYTES // mean))
        self._con.execute(
            "copy (select row_number() over () as id, ts, number::INTEGER as template_id, msg "
            f"from ({lines} order by ts, seq)) to {quoted(path)} ({options}, row_group_size {rows})"
        )
        self._con.unregister("number")
        count = f"select count(*) from read_parquet({quoted(path)})"
        if self._con.execute(count).fetchall() != [(self.lines,)]:
            raise WorldError(
                "a log line names a pattern that was not given",
                where="Spool.patterns",
                mend="Add each pattern before the lines that show it",
            )

    def write_values(self, path: Path, options: str) -> None:
        """Write the table ``metric_value``; a gap is NULL."""
        parts = []
        for number, values in enumerate(self.slices()):
            part = self._folder / f"values-{number:05}.parquet"
            self._con.register("given", {"v": np.ma.array(values, mask=np.isnan(values))})
            self._con.execute(f"copy given to {quoted(part)} ({_CHUNK_LAYOUT})")
            self._con.unregister("given")
            parts.append(part)
        listed = ", ".join(map(quoted, parts))
        source = f"read_parquet([{listed}])" if parts else "(select 0::FLOAT as v where false)"
        self._con.execute(f"copy (select v from {source}) to {quoted(path)} ({options})")
        for part in parts:
            part.unlink()

    def slices(self) -> Iterator[Column]:
        """All values, by series and time, in slices; a gap is the one NaN."""
        room: list[Column] = []
        free = SLICE
        for run in self._ordered():
            first = 0
            while first < run.points:
                count = min(free, run.points - first)
                room.append(self._read(run.at + first, count))
                first, free = first + count, free - count
                if not free:
                    yield np.concatenate(room)
                    room, free = [], SLICE
        if room:
            yield np.concatenate(room)

    def _read(self, at: int, count: int) -> Column:
        with _room("read metric values again"):
            self._values.flush()
            raw = os.pread(self._values.fileno(), count * 4, at * 4)
        return rounded(np.frombuffer(raw, dtype="<f4"))

    def _ordered(self) -> list[Run]:
        return sorted(self._runs, key=lambda run: (run.series_id, run.t0, run.step_s, run.at))

    def close(self) -> None:
        """Give back the folder."""
        self._con.close()
        self._values.close()
        self._holder.cleanup()


def _spread(span: Span | None, first: int, last: int) -> Span:
    low, high = span or (first, last)
    return min(low, first), max(high, last)


@contextmanager
def _room(what: str) -> Iterator[None]:
    """A disk that cannot take it, or a file that cannot be read, as a WorldError."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        raise WorldError(
            f"it was not possible to {what} ({type(error).__name__})",
            where=tempfile.gettempdir(),
            mend="Make room there, or name another folder in TMPDIR",
        ) from error
