"""A world in use: its graph in dictionaries, its tables read as they are asked for.

A world is shared by the sessions that look at it. What is asked in SQL lies in a database that can
read no file; each session has a cursor of its own, because one DuckDB connection cannot serve two
threads.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import duckdb

from heldout.graph.answers import Answers
from heldout.graph.collection import uncollected
from heldout.graph.events import Changes, Touched
from heldout.graph.facts import Facts, Holding
from heldout.graph.files import MANIFEST, world_meta
from heldout.graph.health import Finding, check_health
from heldout.graph.identity import (
    APART,
    Incarnations,
    Life,
    Named,
    homes_of,
    incarnations,
)
from heldout.graph.lines import LogLines
from heldout.graph.series import Metrics
from heldout.graph.snapshot import Edge, Entity, Snapshot
from heldout.graph.stored import Stored
from heldout.graph.tables import Tables


class Alert(NamedTuple):
    """A row of ``alert``."""

    id: str
    ts: int
    rule: str
    entity_id: str
    severity: str
    text: str
    state: str


class Gap(NamedTuple):
    """A row of ``data_gap``: ``entity`` is empty where it concerns everything."""

    source: str
    entity: str
    since: int
    until: int
    note: str


class Names(NamedTuple):
    """An entity with its names as a search compares them; ``text`` also has kind and cluster."""

    entity: Entity
    name: str
    external_id: str
    text: str


class World:
    """One opened world. Nothing later than ``now`` can be seen in it.

    It reads its folder on when asked for more, until it has been made :meth:`whole`. Raises
    :class:`~heldout.errors.WorldError`, then too, where a file cannot be read.
    """

    def __init__(self, directory: Path, *, kept_answers: int = 200) -> None:
        meta = world_meta(directory)
        self.answers = Answers(kept_answers)
        self.now = meta.now
        self.start = meta.start
        self._stored = Stored(directory, meta.now)
        self.facts = Facts(self._stored)
        self.changes = Changes(self._stored)
        self.logs = LogLines(self._stored, meta.now)
        self.metrics = Metrics(self._stored)
        self.tables = Tables(self._stored, self.logs, meta.now)
        entities = [*map(Entity._make, self._stored.rows("entity"))]
        edges = [*map(Edge._make, self._stored.rows("edge", Edge._fields))]
        self.incarnations = _incarnations(entities, edges, self.facts)
        self.gone = self.incarnations.replaced | self.changes.deleted
        holding = partial(Holding, self.facts, self.now)
        self.graph = Snapshot(
            entities, edges, holding, self.now, gone=self.gone, fields=lambda: self.facts.fields
        )
        self.gaps = tuple(Gap(*row) for row in self._stored.rows("data_gap"))
        self.clusters = tuple(sorted({one.cluster for one in entities} - {""}))

    def whole(self) -> World:
        """The same world with everything read, so that its folder may go."""
        self._stored.keep()
        return self

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of one's own to the tables, of use as long as the world is."""
        return self.tables.cursor()

    def touched(self, change: str) -> Touched:
        """Entities and fields of one change."""
        return self.changes.touched(change)

    @property
    def log_range(self) -> tuple[int, int] | None:
        """The times of the first and the last line, ``None`` without any."""
        return self.logs.span

    @cached_property
    def alerts(self) -> tuple[Alert, ...]:
        """Every alert that fired up to now, in stored order."""
        found = [Alert(*row) for row in self._stored.rows("alert")]
        return tuple(one for one in found if one.ts <= self.now)

    @cached_property
    def names(self) -> tuple[Names, ...]:
        """Every entity with what a search compares, in stored order."""
        return tuple(
            Names(
                one,
                one.name.casefold(),
                one.external_id.casefold(),
                f"{one.name} {one.kind} {one.cluster}".casefold(),
            )
            for one in self.graph.entities.values()
        )

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Every field that any fact or diff names."""
        return tuple(sorted(self.facts.fields | self.changes.fields))

    @cached_property
    def _findings(self) -> tuple[Finding, ...]:
        return check_health(self.graph)

    def findings(self) -> tuple[Finding, ...]:
        """What the health checks say, computed once."""
        return self._findings


_CALLED = attrgetter("kind", "name", "cluster")


def _incarnations(entities: Sequence[Entity], edges: Sequence[Edge], facts: Facts) -> Incarnations:
    def homes(ids: Collection[str]) -> Mapping[str, str]:
        told = [
            (one, row.field, row.value_json)
            for one in ids
            for row in facts.of(one)
            if row.field in APART
        ]
        known = {one.id: one for one in entities}
        wanted = frozenset(ids)
        ends = [
            (edge.src, known[edge.dst])
            for edge in edges
            if edge.pred == "part_of" and edge.src in wanted
        ]
        return homes_of(told, [(src, dst.kind, dst.name) for src, dst in ends])

    alike = Counter(map(_CALLED, entities))
    return incarnations(
        (
            Named(one.kind, one.name, one.cluster, Life(one.id, one.first_seen, one.last_seen))
            for one in entities
            if alike[_CALLED(one)] > 1
        ),
        homes,
    )


class WorldCache:
    """The worlds used last, by folder and manifest; safe to use from several threads."""

    def __init__(self, size: int = 12, *, kept_answers: int = 200) -> None:
        self._size = size
        self._kept_answers = kept_answers
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
                with uncollected():
                    world = World(directory, kept_answers=self._kept_answers)
                with self._lock:
                    self._worlds[key] = world
                    while len(self._worlds) > self._size:
                        self._worlds.popitem(last=False)
            with self._lock:
                self._loading.pop(key, None)
        return world
