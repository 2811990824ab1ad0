"""A world on disk: one Parquet file per table and a manifest, immutable once written.

The digest is over what the world *says*, not over the bytes of its files: it is the same in every
process and with every release of DuckDB. The manifest holds the sha256 of each file beside it, so
that a missing or altered file is found without reading its rows. A world is written to a temporary
folder and renamed, so that a full disk or a killed process leaves nothing half-written.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from heldout.errors import WorldError
from heldout.graph.checks import check_rows
from heldout.graph.logs import render_logs
from heldout.graph.schema import TABLES, MetricBlock, WorldTables

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
REBUILD = "Delete the folder; 'heldout build' makes it again from the spec"

_ROW_GROUP = 20_480
_BLOCK_TABLES = ("log", "log_template", "metric_chunk")
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


@dataclass(frozen=True, slots=True)
class WorldMeta:
    """A manifest as read: times in microseconds, ``counts`` by table."""

    now: int
    start: int
    meta: Mapping[str, str]
    counts: Mapping[str, int]
    digest: str


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


def write_world(tables: WorldTables, directory: Path) -> str:
    """Check and write a world; return its content digest.

    A world that breaks the ontology or refers to what is not there is a :class:`WorldError`, and so
    is a disk that cannot take it; in both cases nothing is left behind. An existing folder of the
    same name is replaced.
    """
    con = connect()
    try:
        _fill(con, tables)
        check_rows(con, now=tables.now)
        counts = {name: _count(con, name) for name in TABLES}
        digest = content_digest(con, tables.now, tables.start, tables.meta)
        with _staged(directory) as stage:
            for name in TABLES:
                _copy(con, name, stage / f"{name}.parquet")
            _write_manifest(stage, tables, counts, digest)
    finally:
        con.close()
    return digest


def _column(values: Sequence[Any], kind: str, where: str) -> np.ndarray[Any, Any]:
    try:
        if kind != "VARCHAR":
            return np.asarray(values, dtype=_NUMPY[kind])
        column = np.empty(len(values), dtype=object)
        column[:] = ["" if value is None else str(value) for value in values]
        return column
    except (TypeError, ValueError, OverflowError) as error:
        raise WorldError(
            f"a value is no {kind} ({error})", where=where, mend="Give every row that type"
        ) from error


def _fill(con: duckdb.DuckDBPyConnection, tables: WorldTables) -> None:
    unknown = sorted(set(tables.columns) - set(TABLES)) + sorted(
        set(tables.columns) & set(_BLOCK_TABLES)
    )
    if unknown:
        raise WorldError(
            f"'{unknown[0]}' is not a table that is given by columns",
            where="WorldTables.columns",
            mend="heldout.graph.schema.TABLES lists them; logs and metrics are given as blocks",
        )
    for name, columns in TABLES.items():
        ddl = ", ".join(f'"{column}" {kind}' for column, kind in columns)
        con.execute(f"create table {name} ({ddl})")
        if name not in _BLOCK_TABLES and name in tables.columns:
            _insert(con, name, tables.columns[name])
    render_logs(con, tables.logs, tables.lines)
    _fill_metrics(con, tables.metrics)


def _insert(con: duckdb.DuckDBPyConnection, name: str, given: Mapping[str, Sequence[Any]]) -> None:
    wanted = TABLES[name]
    if set(given) != {column for column, _ in wanted}:
        odd = sorted(set(given) ^ {column for column, _ in wanted})
        raise WorldError(
            f"column '{odd[0]}' is missing or unknown", where=name, mend="See graph.schema.TABLES"
        )
    data = {column: _column(given[column], kind, f"{name}.{column}") for column, kind in wanted}
    lengths = {len(values) for values in data.values()}
    if len(lengths) != 1:
        raise WorldError(
            "columns differ in length", where=name, mend="Give each row a value in every column"
        )
    if lengths == {0}:
        return
    con.register("given", data)
    casts = ", ".join(f'"{column}"::{kind}' for column, kind in wanted)
    con.execute(f"insert into {name} select {casts} from given order by {_ORDER[name]}")
    con.unregister("given")


def _rounded(values: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, Any]:
    """Keep 12 bits of each mantissa (3.6 decimal digits): portable, and small on disk.

    A gap, given as NaN, is stored as NULL.
    """
    flat = np.ascontiguousarray(values, dtype="<f4").copy()
    flat[np.isnan(flat)] = np.nan
    bits = flat.view(np.uint32)
    finite = np.isfinite(flat)
    bits[finite] = (bits[finite] + np.uint32(0x400)) & np.uint32(0xFFFFF800)
    return flat


def _fill_metrics(con: duckdb.DuckDBPyConnection, blocks: Sequence[MetricBlock]) -> None:
    for block in blocks:
        values = _rounded(block.values)
        if values.ndim != 2 or values.shape[0] != len(block.series_ids):
            raise WorldError(
                f"{len(block.series_ids)} series but values of shape {values.shape}",
                where="MetricBlock",
                mend="Give one row of values for each series",
            )
        count, length = values.shape
        if not count or not length:
            continue
        con.register(
            "given_value", {"place": np.repeat(np.arange(count), length), "v": values.ravel()}
        )
        con.register(
            "given_series",
            {
                "place": np.arange(count),
                "id": _column(block.series_ids, "VARCHAR", "MetricBlock.series_ids"),
            },
        )
        # One thread reads in order, so that list() needs no ordering of its own: nine times faster.
        con.execute(
            "insert into metric_chunk select s.id::VARCHAR, $t0, $step, c.vals from "
            "(select place, list(nullif(v, 'nan'::FLOAT)) as vals from given_value "
            "group by place) c "
            "join given_series s using (place) order by s.id",
            {"t0": block.t0, "step": block.step_s},
        )
        con.unregister("given_value")
        con.unregister("given_series")


def _count(con: duckdb.DuckDBPyConnection, name: str) -> int:
    row = con.execute(f"select count(*) from {name}").fetchone()
    return int(row[0]) if row else 0


def content_digest(
    con: duckdb.DuckDBPyConnection, now: int, start: int, meta: Mapping[str, str]
) -> str:
    """sha256 over every row of every table in stored order, and over times and meta.

    Column by column: numbers as little-endian bytes, texts as their lengths and their bytes.
    """
    total = hashlib.sha256()
    head = {"schema": SCHEMA_VERSION, "now": now, "start": start, "meta": dict(meta)}
    total.update(json.dumps(head, sort_keys=True).encode())
    for name, columns in TABLES.items():
        total.update(f"\n{name} {_count(con, name)}".encode())
        numbers, texts = [], []
        for column, kind in columns:
            if kind == "VARCHAR":
                numbers.append(f'strlen("{column}")::INTEGER')
                texts.append(f"coalesce(string_agg(\"{column}\", ''), '')")
            elif kind == "FLOAT[]":
                numbers.append(f'len("{column}")::INTEGER')
            else:
                numbers.append(f'"{column}"')
        named = ", ".join(f"{expression} as n{i}" for i, expression in enumerate(numbers))
        for values in con.execute(f"select {named} from {name}").fetchnumpy().values():
            total.update(np.ascontiguousarray(values).tobytes())
        row = con.execute(f"select {', '.join(texts)} from {name}").fetchone() or ()
        for text in row:
            total.update(str(text).encode())
    values = con.execute("select unnest(vals) as v from metric_chunk").fetchnumpy()["v"]
    total.update(np.ma.filled(np.ma.asarray(values, dtype="<f4"), np.nan).tobytes())
    return total.hexdigest()


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _copy(con: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    con.execute(
        f"copy {name} to {_quoted(path)} "
        "(format parquet, parquet_version v2, compression zstd, compression_level 1, "
        f"row_group_size {_ROW_GROUP})"
    )


def _write_manifest(
    stage: Path, tables: WorldTables, counts: Mapping[str, int], digest: str
) -> None:
    manifest = {
        "schema": SCHEMA_VERSION,
        "digest": digest,
        "now": tables.now,
        "start": tables.start,
        "meta": dict(tables.meta),
        "counts": dict(counts),
        "files": {name: _file_hash(stage / f"{name}.parquet") for name in TABLES},
        "written_with": {"duckdb": duckdb.__version__, "numpy": np.__version__},
    }
    text = json.dumps(manifest, indent=1, sort_keys=True)
    (stage / MANIFEST).write_text(text, encoding="utf-8")


@contextmanager
def _staged(directory: Path) -> Iterator[Path]:
    """A temporary sibling folder that becomes ``directory`` when the block ends well."""
    stage = directory.with_name(f".{directory.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        stage.mkdir(parents=True)
        yield stage
        _move_into_place(stage, directory)
    except (OSError, duckdb.IOException) as error:
        raise WorldError(
            f"the world could not be written ({error})",
            where=str(directory),
            mend="Make room on the disk, or name a folder that can be written",
        ) from error
    finally:
        if stage.exists():
            shutil.rmtree(stage, ignore_errors=True)


def _move_into_place(stage: Path, directory: Path) -> None:
    """Rename, after what is there; another process may be doing the same at this moment."""
    for _ in range(20):
        try:
            stage.rename(directory)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        old = stage.with_name(f"{stage.name}.{uuid.uuid4().hex[:8]}.old")
        with suppress(FileNotFoundError):
            directory.rename(old)
        shutil.rmtree(old, ignore_errors=True)
    stage.rename(directory)


def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _manifest(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(raw, dict) or not isinstance(raw["files"], dict):
            raise ValueError("not a manifest")
        int(raw["now"])
        int(raw["start"])
    except FileNotFoundError as error:
        raise WorldError("the world has no manifest", where=str(path), mend=REBUILD) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WorldError(
            f"the manifest cannot be read ({type(error).__name__})", where=str(path), mend=REBUILD
        ) from error
    if raw.get("schema") != SCHEMA_VERSION:
        raise WorldError(
            f"the world has schema {raw.get('schema')}, this program reads {SCHEMA_VERSION}",
            where=str(path),
            mend=REBUILD,
        )
    return raw


def verify_world(directory: Path, digest: str, *, deep: bool = False) -> None:
    """Raise :class:`WorldError` where a file is missing or altered, or the digest is another.

    ``deep`` also reads every row: it computes the digest again and holds the rows against the
    ontology, as the writer does, so that a world of another writer is found too (0.2 CPU-s).
    """
    raw = _manifest(directory)
    if raw.get("digest") != digest:
        raise WorldError(
            f"the world's digest is {str(raw.get('digest'))[:12]}, expected {digest[:12]}",
            where=str(directory),
            mend=REBUILD,
        )
    for name in TABLES:
        path = directory / f"{name}.parquet"
        if not path.is_file():
            raise WorldError("a file of the world is missing", where=str(path), mend=REBUILD)
        if _file_hash(path) != raw["files"].get(name):
            raise WorldError("a file of the world was altered", where=str(path), mend=REBUILD)
    if deep:
        con = connect()
        try:
            load_tables(con, directory)
            check_rows(con, now=raw["now"])
            found = content_digest(con, raw["now"], raw["start"], raw["meta"])
        finally:
            con.close()
        if found != digest:
            raise WorldError(
                "the rows of the world differ from its digest", where=str(directory), mend=REBUILD
            )


def load_tables(
    con: duckdb.DuckDBPyConnection, directory: Path, names: Sequence[str] = tuple(TABLES)
) -> None:
    """Load tables of a world into ``con``; a file that cannot be read is a :class:`WorldError`."""
    for name in names:
        path = directory / f"{name}.parquet"
        columns = ", ".join(f'"{column}"' for column, _ in TABLES[name])
        try:
            con.execute(
                f"create table {name} as select {columns} from read_parquet({_quoted(path)})"
            )
        except duckdb.Error as error:
            raise WorldError(
                f"a file of the world cannot be read ({type(error).__name__})",
                where=str(path),
                mend=REBUILD,
            ) from error


def read_table(directory: Path, name: str) -> list[dict[str, Any]]:
    """One table as plain rows in stored order, for gates and tests."""
    if name not in TABLES:
        raise WorldError(
            f"'{name}' is not a table", where=str(directory), mend="See graph.schema.TABLES"
        )
    con = connect()
    try:
        load_tables(con, directory, (name,))
        columns = [column for column, _ in TABLES[name]]
        rows = con.execute(f"select * from {name}").fetchall()
    finally:
        con.close()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def world_meta(directory: Path) -> WorldMeta:
    """The manifest of a world."""
    raw = _manifest(directory)
    return WorldMeta(
        now=int(raw["now"]),
        start=int(raw["start"]),
        meta=dict(raw.get("meta", {})),
        counts=dict(raw.get("counts", {})),
        digest=str(raw.get("digest", "")),
    )
