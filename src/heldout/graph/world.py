"""A world in use: its tables in an in-memory database, its graph in dictionaries.

A world is loaded once and shared by the sessions that look at it; each session has a cursor of its
own, because one DuckDB connection cannot serve two threads. After loading, the database can read no
file and its configuration is locked.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb

from heldout.graph.database import connect
from heldout.graph.files import MANIFEST, load_tables, read_values, world_meta
from heldout.graph.health import Finding, check_health
from heldout.graph.identity import (
    APART,
    Incarnations,
    Life,
    Named,
    homes_of,
    incarnations,
)
from heldout.graph.known import forget_unknown
from heldout.graph.schema import TABLES
from heldout.graph.snapshot import Edge, Entity, Snapshot


class Gap(NamedTuple):
    """A row of ``data_gap``: ``entity`` is empty where it concerns everything."""

    source: str
    entity: str
    since: int
    until: int
    note: str


class Touched(NamedTuple):
    """What one change touched: entity ids and field names, each once, in a stable order.

    ``roles`` tells which entities it deleted or applied anew.
    """

    entities: tuple[str, ...]
    fields: tuple[str, ...]
    roles: Mapping[str, str]


class World:
    """One loaded world. Nothing later than ``now`` can be seen in it.

    ``metric_values`` are the rows of ``metric_value``, gaps as NaN.
    """

    def __init__(self, directory: Path) -> None:
        meta = world_meta(directory)
        self.now = meta.now
        self.start = meta.start
        self._con = connect()
        load_tables(self._con, directory, lasting=True)
        self.metric_values = read_values(self._con, directory)
        forget_unknown(self._con, self.now)
        self._con.execute("set enable_external_access = false")
        self._con.execute("set lock_configuration = true")
        self._lock = threading.Lock()
        rows = self._con.execute(f"select {_columns('entity')} from entity").fetchall()
        edges = self._con.execute(
            "select src, pred, dst, valid_from, valid_to, observed_at, provenance, "
            "confidence, source from edge"
        ).fetchall()
        entities = [Entity(*row) for row in rows]
        links = [Edge(*row) for row in edges]
        self.incarnations = self._incarnations(entities, links)
        deleted = self._con.execute(
            "select distinct entity_id from change_target where role = 'deleted'"
        ).fetchall()
        self.gone = self.incarnations.replaced.union(row[0] for row in deleted)
        self.graph = Snapshot(entities, links, self._facts, self.now, gone=self.gone)
        gaps = self._con.execute(f"select {_columns('data_gap')} from data_gap").fetchall()
        self.gaps = tuple(Gap(*row) for row in gaps)
        found = self._con.execute("select min(ts), max(ts) from log").fetchone()
        self.log_range: tuple[int, int] | None = (
            (int(found[0]), int(found[1])) if found and found[0] is not None else None
        )
        self.clusters = tuple(sorted({one.cluster for one in self.graph.entities.values()} - {""}))
        self._findings: tuple[Finding, ...] | None = None
        self._fields: tuple[str, ...] | None = None
        self._touched: dict[str, Touched] | None = None

    def _incarnations(self, entities: Sequence[Entity], edges: Sequence[Edge]) -> Incarnations:
        def homes(ids: Collection[str]) -> Mapping[str, str]:
            facts = self._con.execute(
                "select entity_id, field, value_json from fact "
                "where list_contains($fields, field) and entity_id in (select unnest($ids))",
                {"fields": list(APART), "ids": list(ids)},
            ).fetchall()
            known = {one.id: one for one in entities}
            ends = [(edge.src, known[edge.dst]) for edge in edges if edge.pred == "part_of"]
            return homes_of(facts, [(src, dst.kind, dst.name) for src, dst in ends])

        return incarnations(
            (
                Named(one.kind, one.name, one.cluster, Life(one.id, one.first_seen, one.last_seen))
                for one in entities
            ),
            homes,
        )

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of one's own to the same database."""
        with self._lock:
            return self._con.cursor()

    def _facts(self) -> Mapping[str, Mapping[str, str]]:
        found: dict[str, dict[str, str]] = {}
        rows = (
            self.cursor()
            .execute(
                "select entity_id, field, value_json from fact "
                "where valid_from <= $now and valid_to > $now order by valid_from, observed_at",
                {"now": self.now},
            )
            .fetchall()
        )
        for entity, field, value in rows:
            found.setdefault(entity, {})[field] = value
        return found

    def findings(self) -> tuple[Finding, ...]:
        """What the health checks say, computed once."""
        if self._findings is None:
            self._findings = check_health(self.graph)
        return self._findings

    def touched(self, change: str) -> Touched:
        """Entities and fields of one change; the first question looks up those of all changes."""
        if self._touched is None:
            entities: dict[str, dict[str, None]] = {}
            fields: dict[str, dict[str, None]] = {}
            roles: dict[str, dict[str, str]] = {}
            rows = (
                self.cursor()
                .execute(
                    "select event_id, entity_id, '', role from change_target union all "
                    "select event_id, entity_id, field, 'target' from change_diff order by all"
                )
                .fetchall()
            )
            for event, entity, field, role in rows:
                entities.setdefault(event, {})[entity] = None
                if field:
                    fields.setdefault(event, {})[field] = None
                if role != "target":
                    roles.setdefault(event, {})[entity] = role
            self._touched = {
                event: Touched(tuple(found), tuple(fields.get(event, ())), roles.get(event, {}))
                for event, found in entities.items()
            }
        return self._touched.get(change, Touched((), (), {}))

    def fields(self) -> tuple[str, ...]:
        """Every field that any fact or diff names."""
        if self._fields is None:
            rows = (
                self.cursor()
                .execute(
                    "select distinct field from (select field from fact "
                    "union all select field from change_diff) order by field"
                )
                .fetchall()
            )
            self._fields = tuple(str(row[0]) for row in rows)
        return self._fields


def _columns(table: str) -> str:
    return ", ".join(f'"{column}"' for column, _ in TABLES[table])


class WorldCache:
    """The worlds used last, by folder and manifest; safe to use from several threads."""

    def __init__(self, size: int = 12) -> None:
        self._size = size
        self._worlds: OrderedDict[tuple[str, int, int], World] = OrderedDict()
        self._lock = threading.Lock()
        self._loading: dict[tuple[str, int, int], threading.Lock] = {}

    def get(self, directory: Path) -> World:
        """The loaded world; a folder that is none is a :class:`~heldout.errors.WorldError`."""
        try:
            stat = (directory / MANIFEST).stat()
            key = (str(directory.resolve()), stat.st_mtime_ns, stat.st_ino)
        except OSError:
            world_meta(directory)  # raises with what is missing
            raise
        with self._lock:
            world = self._worlds.get(key)
            if world is not None:
                self._worlds.move_to_end(key)
                return world
            gate = self._loading.setdefault(key, threading.Lock())
        with gate:
            with self._lock:
                world = self._worlds.get(key)
            if world is None:
                world = World(directory)
                with self._lock:
                    self._worlds[key] = world
                    while len(self._worlds) > self._size:
                        self._worlds.popitem(last=False)
            with self._lock:
                self._loading.pop(key, None)
        return world
