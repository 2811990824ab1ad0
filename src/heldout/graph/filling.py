"""A world in memory as tables of a database: typed, in stored order, logs and metrics unfolded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from heldout.errors import WorldError
from heldout.graph.columns import rounded
from heldout.graph.logs import Lines, arrange_lines, render_lines
from heldout.graph.schema import BLOCK_TABLES, TABLES, MetricBlock, WorldTables
from heldout.graph.spool import Spool

_ORDER: Mapping[str, str] = {
    "entity": "id",
    "fact": "entity_id, field, valid_from, valid_to, event_id, value_json",
    "edge": "src, pred, dst, valid_from, valid_to",
    "change_event": "ts, id",
    "change_target": "event_id, entity_id, role",
    "change_diff": "event_id, entity_id, field, old_json, new_json",
    "metric_series": "id",
    "alert": "ts, id",
    "data_gap": "source, entity_id, since, until, note",
}
"""Rows are stored in this order, whatever order they were given in."""

_NUMPY = {"BIGINT": np.int64, "INTEGER": np.int32, "FLOAT": np.float32, "BOOLEAN": np.bool_}

Values = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Arranged:
    """A world's rows as typed columns, not yet in a database and in any order.

    ``columns`` has every table but ``metric_value``, which is ``values``, and of ``log`` only the
    template of each line; ``lines`` has what the lines are rendered from, ``None`` where a spool
    holds lines and values.
    """

    columns: Mapping[str, Mapping[str, Values]]
    lines: Lines | None
    values: Values

    def plain(self) -> dict[str, dict[str, Any]]:
        """The columns, texts as lists."""
        return {
            name: {
                column: values.tolist() if values.dtype == object else values
                for column, values in columns.items()
            }
            for name, columns in self.columns.items()
        }


def arrange(tables: WorldTables) -> Arranged:
    """The rows of a world, typed; a table, column or value that does not fit is a WorldError."""
    unknown = sorted(set(tables.columns) - (set(TABLES) - set(BLOCK_TABLES)))
    if unknown:
        raise WorldError(
            f"'{unknown[0]}' is not a table that is given by columns",
            where="WorldTables.columns",
            mend="heldout.graph.schema.TABLES lists them; logs and metrics are given as blocks",
        )
    if tables.spool is not None:
        return _arrange_spooled(tables, tables.spool)
    lines = arrange_lines(tables.logs, tables.lines)
    chunks = [chunk for block in tables.metrics for chunk in _chunks(block)]
    columns = {
        **_plain_columns(tables),
        "log": {"template_id": lines.pattern},
        "log_template": _checked("log_template", lines.patterns),
        "metric_chunk": _chunk_columns(chunks),
    }
    empty = np.empty(0, dtype=np.float32)
    return Arranged(columns, lines, np.concatenate([empty, *(chunk[3] for chunk in chunks)]))


def _plain_columns(tables: WorldTables) -> dict[str, dict[str, Values]]:
    return {
        name: _checked(name, tables.columns.get(name))
        for name in TABLES
        if name not in BLOCK_TABLES
    }


def _arrange_spooled(tables: WorldTables, spool: Spool) -> Arranged:
    if tables.logs or tables.lines or tables.metrics:
        raise WorldError(
            "a world has its lines and values both in a spool and in blocks",
            where="WorldTables",
            mend="Add them all to the spool",
        )
    columns = {
        **_plain_columns(tables),
        "log": {"template_id": np.empty(0, dtype=np.int32)},
        **{name: _checked(name, given) for name, given in spool.columns().items()},
    }
    return Arranged(columns, None, np.empty(0, dtype=np.float32))


def store(con: duckdb.DuckDBPyConnection, arranged: Arranged) -> None:
    """Make every table of a world in ``con``, temporary and in stored order.

    ``metric_value`` becomes a view of the array. What a spool holds is not made.
    """
    for name, columns in arranged.columns.items():
        if name != "log":
            _store(con, name, columns, _ORDER.get(name, ""))
    if arranged.lines is None:
        return
    render_lines(con, arranged.lines)
    gaps = np.isnan(arranged.values)
    values = np.ma.array(arranged.values, mask=gaps) if gaps.any() else arranged.values
    con.register("metric_value", {"v": values})


def _checked(name: str, given: Mapping[str, Sequence[Any]] | None) -> dict[str, Values]:
    """The columns of a table as arrays, empty ones where the table is not given."""
    wanted = TABLES[name]
    if given is None:
        given = {column: () for column, _ in wanted}
    if set(given) != {column for column, _ in wanted}:
        odd = sorted(set(given) ^ {column for column, _ in wanted})
        raise WorldError(
            f"column '{odd[0]}' is missing or unknown", where=name, mend="See graph.schema.TABLES"
        )
    data = {column: _column(given[column], kind, f"{name}.{column}") for column, kind in wanted}
    if len({len(values) for values in data.values()}) != 1:
        raise WorldError(
            "columns differ in length", where=name, mend="Give each row a value in every column"
        )
    return data


def _column(values: Sequence[Any], kind: str, where: str) -> Values:
    try:
        if kind != "VARCHAR":
            return np.asarray(values, dtype=_NUMPY[kind])
        column = np.empty(len(values), dtype=object)
        if set(map(type, values)) <= {str}:
            column[:] = values
        else:
            column[:] = ["" if value is None else str(value) for value in values]
        return column
    except (TypeError, ValueError, OverflowError) as error:
        raise WorldError(
            f"a value is no {kind} ({error})", where=where, mend="Give every row that type"
        ) from error


def _store(
    con: duckdb.DuckDBPyConnection, name: str, data: Mapping[str, Values], order: str = ""
) -> None:
    """Make a table of columns that have its types."""
    if not len(next(iter(data.values()))):
        columns = ", ".join(f'"{column}" {kind}' for column, kind in TABLES[name])
        con.execute(f"create temp table {name} ({columns})")
        return
    con.register("given", dict(data))
    casts = ", ".join(f'"{column}"::{kind} as "{column}"' for column, kind in TABLES[name])
    sort = f"order by {order}" if order else ""
    con.execute(f"create temp table {name} as select {casts} from given {sort}")
    con.unregister("given")


def _chunk_columns(chunks: Sequence[tuple[str, int, int, Values]]) -> dict[str, Values]:
    """Each series of each block is a chunk: a run of values, one after the other."""
    lengths = [len(values) for *_, values in chunks]
    return {
        "series_id": _column([chunk[0] for chunk in chunks], "VARCHAR", "MetricBlock"),
        "t0": np.array([chunk[1] for chunk in chunks], dtype=np.int64),
        "step_s": np.array([chunk[2] for chunk in chunks], dtype=np.int32),
        "first": np.cumsum([0, *lengths], dtype=np.int64)[:-1],
        "points": np.array(lengths, dtype=np.int32),
    }


def _chunks(block: MetricBlock) -> Iterator[tuple[str, int, int, Values]]:
    """(series, t0, step_s, values) by series."""
    values = rounded(block.values)
    if values.ndim != 2 or values.shape[0] != len(block.series_ids):
        raise WorldError(
            f"{len(block.series_ids)} series but values of shape {values.shape}",
            where="MetricBlock",
            mend="Give one row of values for each series",
        )
    if values.shape[1]:
        for one, place in sorted((own, place) for place, own in enumerate(block.series_ids)):
            yield one, block.t0, block.step_s, values[place]
