"""What every tool needs: ids that exist, rows, windows, and what is not known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import duckdb
import numpy as np
import orjson
from rapidfuzz import fuzz, process

from heldout.graph.snapshot import Entity
from heldout.graph.status import status_of
from heldout.graph.tools.page import Page, Window, clip, clip_value, ids_in, iso
from heldout.graph.tools.refusals import Refusal
from heldout.graph.world import World

Area = Literal["log", "metric", "change", "alert", "graph"]
"""What a tool reads. ``data_gap.source`` names an area, or a source of the ontology, which then
concerns changes and graph."""

DELETED = "deleted"

_AREAS = ("log", "metric", "change", "alert", "graph")
_MAX_GAPS = 5
_OF_A_KIND = re.compile(r"([A-Za-z]+)[/ ]\s*(\S.*)")


class Reader:
    """One session's access to a world: a cursor of its own and the shared graph."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.graph = world.graph
        self.now = world.now
        self.read_as: dict[str, Entity] = {}
        self._cursor: duckdb.DuckDBPyConnection | None = None

    def _con(self) -> duckdb.DuckDBPyConnection:
        if self._cursor is None:
            self._cursor = self.world.cursor()
        return self._cursor

    def rows(self, sql: str, params: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of one query over any tables."""
        self.world.tables.need(sql)
        return self._con().execute(sql, params or {}).fetchall()

    def columns(
        self, sql: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, np.ndarray[Any, Any]]:
        """All columns of one query over any tables."""
        self.world.tables.need(sql)
        found: dict[str, np.ndarray[Any, Any]] = self._con().execute(sql, params or {}).fetchnumpy()
        return found

    def lines(self, sql: str, params: Mapping[str, Any], *, first: int) -> list[tuple[Any, ...]]:
        """All rows of one query over the table ``log``, which may lack rows before ``first``."""
        self.world.tables.need_lines(first)
        return self._con().execute(sql, params).fetchall()

    def interrupt(self) -> None:
        """Stop the query that runs now, if one does."""
        if self._cursor is not None:
            self._cursor.interrupt()

    def close(self) -> None:
        """Give the cursor back."""
        if self._cursor is not None:
            self._cursor.close()

    def entity(self, given: str) -> Entity:
        """The entity of an id; an unknown one is refused with what it may have meant.

        An id with words around it is read as that id, and a name that only one entity bears, alone
        or of the kind before it (``Deployment/checkout``), as that entity; of several, the Service
        is meant. What was read as what stands in ``read_as``, for the answer to say.
        """
        given = given.strip()
        entity = self.graph.entities.get(given)
        if entity is not None:
            return entity
        entity = self._within(given) or self._named(given)
        if entity is None:
            raise Refusal("unknown_id", *self._meant(given[:80]))
        self.read_as[given[:80]] = entity
        return entity

    def _within(self, given: str) -> Entity | None:
        inside = ids_in(given)
        return self.graph.entities.get(inside[0]) if len(inside) == 1 else None

    def _named(self, given: str) -> Entity | None:
        """The one entity that is called so; those that are there now come first."""
        match = _OF_A_KIND.fullmatch(given)
        kind, name = (match[1], match[2]) if match else ("", given)
        alike = [
            one.entity
            for one in self.world.names
            if one.name == name.strip().casefold()
            and kind.casefold() in ("", one.entity.kind.casefold())
        ]
        there = [one for one in alike if one.id not in self.world.gone] or alike
        meant = there if len(there) == 1 else [one for one in there if one.kind == "Service"]
        return meant[0] if len(meant) == 1 else None

    def _meant(self, given: str) -> tuple[str, list[str]]:
        """What is wrong with an id, and those that it may have been."""
        entities = self.graph.entities
        names = {one.id: one.name for one in entities.values()}
        exact = [one for one in entities.values() if one.name.casefold() == given.casefold()]
        wrong = f"no entity has the id '{given[:60]}'"
        if exact:
            wrong = f"{wrong}, {len(exact)} have this name: give the id of one"
        if not exact and given.startswith("e-"):
            hits = process.extract(given, list(names), limit=3, score_cutoff=80)
            exact = [entities[hit[0]] for hit in hits]
        if not exact:
            hits_by_name = process.extract(
                given, names, scorer=fuzz.ratio, limit=5, score_cutoff=60
            )
            exact = [entities[hit[2]] for hit in hits_by_name]
        return wrong, [f"{one.id} ({one.kind} {one.name})" for one in exact[:5]]

    def name(self, entity: str) -> str:
        """An entity's name, empty where there is none."""
        known = self.graph.entities.get(entity)
        return known.name if known else ""

    def status(self, entity: Entity) -> str:
        """An entity's status now."""
        return DELETED if entity.id in self.world.gone else status_of(self.graph, entity)

    def mentioned(self, entity: str, role: str = "") -> dict[str, Any]:
        """An entity as changes name it, with what became of it where it was made anew."""
        found: dict[str, Any] = {"id": entity, "name": self.name(entity)}
        if role:
            found["role"] = role
        successor = self.world.incarnations.successor(entity)
        if successor:
            found["replaced_by"] = successor
        return found

    def lives(self, entity: str) -> dict[str, Any]:
        """The incarnations of an object that has several, as an answer shows them; else empty."""
        lives = self.world.incarnations.all(entity)
        shown = [
            {
                "id": life.id,
                "first_seen": iso(life.first_seen),
                "last_seen": iso(min(life.last_seen, self.now)),
            }
            for life in lives
        ]
        return {"incarnations": shown} if shown else {}

    def window(self, since: int | None, until: int | None, *, first: int | None = None) -> Window:
        """The window asked for, ended at now; one that is empty is refused."""
        start = self.world.start if first is None else first
        begin = start if since is None else since
        end = self.now if until is None else min(until, self.now)
        if since is not None and until is not None and since > until:
            raise Refusal("bad_argument", "'since' is later than 'until'")
        if begin > end:
            raise Refusal(
                "bad_argument", f"the window begins after the present, which is {iso(self.now)}"
            )
        return Window(begin, end)

    def gaps(
        self, area: Area, window: Window | None, entities: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """Known holes in what was asked for; a hole as large as the question is refused."""
        span = window or Window(self.now, self.now)
        found = []
        for gap in self.world.gaps:
            if not _concerns(gap.source, area) or gap.until < span.since or gap.since > span.until:
                continue
            if gap.entity and entities and gap.entity not in entities:
                continue
            whole = gap.since <= span.since and gap.until >= span.until
            named = not gap.entity or tuple(entities) == (gap.entity,)
            if window and whole and named and gap.source.startswith(area):
                raise Refusal(
                    "unavailable",
                    f"no {area} data between {iso(gap.since)} and {iso(gap.until)}: {gap.note}",
                )
            found.append(
                {
                    "source": gap.source,
                    "entity": gap.entity or None,
                    "since": iso(gap.since),
                    "until": iso(min(gap.until, self.now)),
                    "note": clip(gap.note, 160),
                }
            )
        return found[:_MAX_GAPS]


def _concerns(source: str, area: str) -> bool:
    if any(source.startswith(one) for one in _AREAS):
        return source.startswith(area)
    return area in ("change", "graph")


def value(text: str) -> Any:
    """A stored JSON value as it is shown."""
    return clip_value(orjson.loads(text))


def sliced(rows: Sequence[Mapping[str, Any]], args: Mapping[str, Any], **more: Any) -> Page:
    """One page of rows that are all at hand."""
    offset, limit = int(args["offset"]), int(args["limit"])
    return Page(rows[offset : offset + limit], total=len(rows), offset=offset, **more)
