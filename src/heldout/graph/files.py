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
from heldout.graph.database import quoted, scratch
from heldout.graph.digest import content_digest, counts_of
from heldout.graph.filling import arrange, store
from heldout.graph.schema import IN_DATABASE, SCHEMA_VERSION, TABLES, WorldTables
from heldout.graph.spool import SPOOLED, Spool

MANIFEST = "manifest.json"
REBUILD = "Delete the folder; 'heldout build' makes it again from the spec"

_PARQUET = "format parquet, parquet_version v2, compression zstd, compression_level 1"
_PLAIN = "dictionary_size_limit 1"
_LAYOUT = {
    "metric_value": f"row_group_size 1_966_080, {_PLAIN}",
    "log": f"row_group_size 20_480, {_PLAIN}",
}
"""Where values hardly ever repeat, looking for a dictionary of them costs and gains nothing."""
_COMMON_LAYOUT = "row_group_size 20_480"


@dataclass(frozen=True, slots=True)
class WorldMeta:
    """A manifest as read: times in microseconds, ``counts`` by table."""

    now: int
    start: int
    meta: Mapping[str, str]
    counts: Mapping[str, int]
    digest: str


def write_world(tables: WorldTables, directory: Path) -> str:
    """Check and write a world; return its content digest.

    A world that breaks the ontology or refers to what is not there is a :class:`WorldError`, and so
    is a disk that cannot take it; in both cases nothing is left behind. An existing folder of the
    same name is replaced.
    """
    arranged = arrange(tables)
    check_rows(arranged.plain(), now=tables.now)
    with scratch() as con:
        store(con, arranged)
        head = {"now": tables.now, "start": tables.start, "meta": dict(tables.meta)}
        if tables.spool is None:
            digest = content_digest(con, arranged.values, head)
        with _staged(directory) as stage:
            for name in TABLES:
                if tables.spool is None or name not in SPOOLED:
                    _copy(con, name, stage / f"{name}.parquet")
            points = len(arranged.values)
            if tables.spool is not None:
                _write_spooled(con, tables.spool, stage)
                points = tables.spool.points
                digest = content_digest(con, tables.spool.slices(), head, points=points)
            counts = {**counts_of(con), "metric_value": points}
            _write_manifest(stage, {**head, "counts": counts, "digest": digest})
    return digest


def _write_spooled(con: duckdb.DuckDBPyConnection, spool: Spool, stage: Path) -> None:
    """Write lines and values, and let the lines be asked for as a table."""
    spool.write_lines(stage / "log.parquet", f"{_PARQUET}, {_PLAIN}")
    spool.write_values(stage / "metric_value.parquet", f"{_PARQUET}, {_LAYOUT['metric_value']}")
    with reading(stage, "log") as source:
        con.execute(f"create temp view log as {source}")


def _copy(con: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    layout = _LAYOUT.get(name, _COMMON_LAYOUT)
    con.execute(f"copy {name} to {quoted(path)} ({_PARQUET}, {layout})")


def _write_manifest(stage: Path, head: Mapping[str, Any]) -> None:
    manifest = {
        "schema": SCHEMA_VERSION,
        **head,
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
        with scratch() as con:
            load_tables(con, directory)
            check_rows(_plain(con), now=raw["now"])
            head = {key: raw[key] for key in ("now", "start", "meta")}
            found = content_digest(con, read_values(con, directory), head)
        if found != digest:
            raise WorldError(
                "the rows of the world differ from its digest", where=str(directory), mend=REBUILD
            )


def _plain(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, list[Any]]]:
    """The tables in ``con`` as columns, but for the texts of lines and the values of metrics."""
    found: dict[str, dict[str, list[Any]]] = {}
    for name in IN_DATABASE:
        wanted = "template_id" if name == "log" else "*"
        columns = con.execute(f"select {wanted} from {name}").fetchnumpy()
        found[name] = {
            column: _present(values, f"{name}.{column}") for column, values in columns.items()
        }
    return found


def _present(values: np.ndarray[Any, Any], where: str) -> list[Any]:
    if values.dtype.kind == "f":
        values = np.ma.filled(values, np.nan)
    elif np.ma.is_masked(values):
        raise WorldError("a value is missing", where=where, mend=REBUILD)
    return values.tolist()  # type: ignore[no-any-return]


def load_tables(
    con: duckdb.DuckDBPyConnection, directory: Path, names: Sequence[str] = IN_DATABASE
) -> None:
    """Load tables of a world into ``con``, for it alone; an unreadable file is a WorldError."""
    for name in names:
        with reading(directory, name) as source:
            con.execute(f"create temp table {name} as {source}")


@contextmanager
def reading(
    directory: Path,
    name: str,
    columns: Sequence[str] = (),
    *,
    spans: Sequence[tuple[int, int]] = (),
) -> Iterator[str]:
    """SQL that reads one table of a world; a failure inside the block is a WorldError.

    All columns when none is named. With ``spans``, each the first row and the one after the last,
    no other rows, and what lies far from them is not even read.
    """
    path = directory / f"{name}.parquet"
    listed = ", ".join(f'"{column}"' for column in columns or [c for c, _ in TABLES[name]])
    rows = f"read_parquet({quoted(path)})"
    if spans:
        inside = " or ".join(f"file_row_number between {a} and {b - 1}" for a, b in spans)
        rows = f"{rows[:-1]}, file_row_number = true) where {inside}"
    try:
        yield f"select {listed} from {rows}"
    except duckdb.Error as error:
        raise WorldError(
            f"a file of the world cannot be read ({type(error).__name__})",
            where=str(path),
            mend=REBUILD,
        ) from error


def read_values(
    con: duckdb.DuckDBPyConnection, directory: Path, spans: Sequence[tuple[int, int]] = ()
) -> np.ndarray[Any, Any]:
    """The values of all metric series of a world, one after the other, gaps as NaN.

    With ``spans`` of rows, ascending and apart, only those.
    """
    with reading(directory, "metric_value", spans=spans) as source:
        found = con.execute(source).fetchnumpy()["v"]
    return np.asarray(np.ma.filled(found, np.nan), dtype=np.float32)


def read_table(directory: Path, name: str) -> list[dict[str, Any]]:
    """One table as plain rows in stored order, for gates and tests."""
    if name not in TABLES:
        raise WorldError(
            f"'{name}' is not a table", where=str(directory), mend="See graph.schema.TABLES"
        )
    with scratch() as con:
        load_tables(con, directory, (name,))
        columns = [column for column, _ in TABLES[name]]
        rows = con.execute(f"select * from {name}").fetchall()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def read_tables(
    directory: Path, wanted: Mapping[str, Sequence[str]]
) -> dict[str, list[dict[str, Any]]]:
    """Some columns of some tables as plain rows, repeated ones once, over one connection.

    ``wanted`` names the columns by table. Rows come in the order in which they were first stored.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    with scratch() as con:
        for name, columns in wanted.items():
            with reading(directory, name, columns) as source:
                rows = dict.fromkeys(con.execute(source).fetchall())
            found[name] = [dict(zip(columns, row, strict=True)) for row in rows]
    return found


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
