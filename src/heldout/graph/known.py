"""What could be known at a moment: nothing that was observed later may show, nor leave a trace.

A change is seen some time after it happens. Until then what it replaced is still believed to hold,
what it deleted is believed to exist, and what it made is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

import numpy as np

from heldout.graph.columns import Column, among, runs
from heldout.graph.schema import OPEN_END

WHEN_KNOWN: Mapping[str, str] = {
    "entity": "first_seen", "fact": "observed_at", "edge": "observed_at",
    "change_event": "observed_at",
}  # fmt: skip
"""The column of each table that says from when a row can be known."""

ENTANGLED = (*WHEN_KNOWN, "change_target", "change_diff")
"""Tables in which an unseen row alters others. Of ``log`` and ``alert`` rows are just left out."""

Read = Callable[[str, Sequence[str]], Mapping[str, Column]]


class Known:
    """The entangled tables as they could be known at ``now``.

    ``read`` gives columns as they are stored; ``later`` names the tables that have rows from after
    ``now``.
    """

    def __init__(self, read: Read, now: int, later: Collection[str]) -> None:
        self._read = read
        self._now = now
        self._later = frozenset(later)
        self._unseen: dict[str, int] = {}
        if "change_event" in later:
            found = read("change_event", ("id", "ts", "observed_at"))
            late = found["observed_at"] > now
            self._unseen = dict(
                zip(found["id"][late].tolist(), found["ts"][late].tolist(), strict=True)
            )

    def columns(self, name: str, wanted: Sequence[str]) -> dict[str, Column]:
        """Some columns of one of the tables, in stored order."""
        seen, altered = self._tables[name]()
        found = self._read(name, wanted)
        return {column: altered.get(column, found[column])[seen] for column in wanted}

    @cached_property
    def _tables(self) -> Mapping[str, Callable[[], tuple[Column, Mapping[str, Column]]]]:
        return {
            "entity": lambda: self._entities,
            "fact": lambda: self._facts,
            "edge": lambda: self._edges,
            "change_event": lambda: (self._in_time("change_event"), {}),
            "change_target": lambda: (self._of_seen("change_target"), {}),
            "change_diff": lambda: (self._of_seen("change_diff"), {}),
        }

    def _in_time(self, name: str) -> Column:
        column = WHEN_KNOWN[name]
        seen: Column = self._read(name, (column,))[column] <= self._now
        return seen

    def _of_seen(self, name: str) -> Column:
        return ~among(self._read(name, ("event_id",))["event_id"], self._unseen)

    @cached_property
    def _touched(self) -> tuple[set[tuple[str, int]], set[str]]:
        """What unseen changes deleted, and when; and what they applied anew."""
        names = ("event_id", "entity_id", "role")
        found = self._read("change_target", names)
        unseen = among(found["event_id"], self._unseen)
        rows = list(zip(*(found[name][unseen].tolist() for name in names), strict=True))
        deleted = {(one, self._unseen[event]) for event, one, role in rows if role == "deleted"}
        return deleted, {one for _, one, role in rows if role == "applied"}

    @cached_property
    def _taken_away(self) -> set[tuple[str, str, int]]:
        """The fields that unseen changes took away, of which entity and when."""
        names = ("event_id", "entity_id", "field", "new_json")
        found = self._read("change_diff", names)
        unseen = among(found["event_id"], self._unseen)
        rows = zip(*(found[name][unseen].tolist() for name in names), strict=True)
        return {
            (one, field, self._unseen[event]) for event, one, field, new in rows if new == "null"
        }

    @cached_property
    def _entities(self) -> tuple[Column, Mapping[str, Column]]:
        found = self._read("entity", ("id", "last_seen"))
        deleted, applied = self._touched
        last = found["last_seen"].copy()
        seen = self._in_time("entity") & ~among(found["id"], applied)
        for at, lived in enumerate(zip(found["id"].tolist(), last.tolist(), strict=True)):
            if lived in deleted:
                last[at] = self._now
        return seen, {"last_seen": last}

    @cached_property
    def _there(self) -> frozenset[str]:
        return frozenset(self._read("entity", ("id",))["id"][self._entities[0]].tolist())

    def _bound(self, ends: Column) -> Column:
        """The rows of which this end is an entity that is there."""
        if self._later.isdisjoint(("entity", "change_event")):
            return np.ones(len(ends), dtype=np.bool_)
        return among(ends, self._there)

    @cached_property
    def _edges(self) -> tuple[Column, Mapping[str, Column]]:
        names = ("src", "dst", "valid_to")
        found = self._read("edge", names)
        deleted, _ = self._touched
        until = found["valid_to"].copy()
        rows = zip(*(found[name].tolist() for name in names), strict=True)
        for at, (src, dst, end) in enumerate(rows):
            if (src, end) in deleted or (dst, end) in deleted:
                until[at] = OPEN_END
        seen = self._in_time("edge") & self._bound(found["src"]) & self._bound(found["dst"])
        return seen, {"valid_to": until}

    @cached_property
    def _facts(self) -> tuple[Column, Mapping[str, Column]]:
        names = ("entity_id", "field", "valid_from", "valid_to", "observed_at")
        found = self._read("fact", names)
        facts = _Facts(*(found[name] for name in names))
        for entity, moment in self._touched[0]:
            facts.reopen(entity, moment, OPEN_END)
        for entity, field, moment in self._taken_away:
            facts.reopen(entity, moment, OPEN_END, field=field)
        facts.go_on(self._now)
        seen = self._in_time("fact") & self._bound(facts.entity)
        return seen, {"valid_to": facts.until}


class _Facts:
    """Facts whose ends are put right."""

    def __init__(
        self, entity: Column, field: Column, since: Column, until: Column, known: Column
    ) -> None:
        self.entity = entity
        self.field = field
        self.since = since
        self.until = until.copy()
        self.known = known
        self._places = runs(entity)

    def reopen(
        self, entity: str, moment: int, until: int, *, field: str = "", known_by: int | None = None
    ) -> None:
        """Let what ended at a moment hold until another: of one entity, all fields or one."""
        place = self._places.get(entity)
        if place is None:
            return
        for at in range(place.start, place.stop):
            if self.until[at] != moment or (field and self.field[at] != field):
                continue
            if known_by is None or (self.since[at] < moment and self.known[at] <= known_by):
                self.until[at] = until

    def go_on(self, now: int) -> None:
        """What a fact not yet observed replaced goes on until the next one that was."""
        hidden = np.flatnonzero(self.known > now).tolist()
        hidden.sort(key=lambda at: (-self.since[at], -self.until[at]))
        ends: dict[tuple[str, str, int], int] = {}
        for at in hidden:
            entity, field = self.entity[at], self.field[at]
            until = int(self.until[at])
            ends[(entity, field, int(self.since[at]))] = ends.get((entity, field, until), until)
        for (entity, field, since), until in ends.items():
            self.reopen(entity, since, until, field=field, known_by=now)
