"""The recorded changes of a world: events by time, what each touched, and the values it altered."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from heldout.graph.columns import Column
from heldout.graph.stored import Stored


class Event(NamedTuple):
    """A row of ``change_event``."""

    id: str
    ts: int
    type: str
    actor: str
    actor_kind: str
    source: str
    pr: str
    repo: str
    commit: str
    summary: str


class Diff(NamedTuple):
    """A row of ``change_diff``; the values are not yet decoded."""

    event_id: str
    entity_id: str
    field: str
    old_json: str
    new_json: str
    redacted: bool


class Touched(NamedTuple):
    """What one change touched: entity ids and field names, each once, in a stable order.

    ``roles`` tells which entities it deleted or applied anew.
    """

    entities: tuple[str, ...]
    fields: tuple[str, ...]
    roles: Mapping[str, str]


class _Steps:
    """Rows of a table that is stored by event and entity."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self.events: list[str] = columns["event_id"].tolist()
        self.entities: list[str] = columns["entity_id"].tolist()

    def of(self, event: str) -> range:
        """The rows of one event."""
        return range(bisect_left(self.events, event), bisect_right(self.events, event))

    def touching(self, entities: Collection[str]) -> Iterable[int]:
        """The rows that concern any of the entities."""
        return (at for at, one in enumerate(self.entities) if one in entities)


class Changes:
    """The changes of a world, in stored order: events by time and id. Read as they are needed."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        found = stored.columns("change_target", ("event_id", "entity_id", "role"))
        self._targets = _Steps(found)
        self._roles: list[str] = found["role"].tolist()

    @cached_property
    def _events(self) -> Mapping[str, Column]:
        return self._stored.columns("change_event", Event._fields)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {one: at for at, one in enumerate(self._events["id"].tolist())}

    @cached_property
    def _diffs(self) -> _Steps:
        return _Steps(self._named)

    @cached_property
    def _named(self) -> Mapping[str, Column]:
        return self._stored.columns("change_diff", Diff._fields[:3])

    @cached_property
    def _fields(self) -> list[str]:
        return self._named["field"].tolist()  # type: ignore[no-any-return]

    @cached_property
    def _values(self) -> Mapping[str, Column]:
        return self._stored.columns("change_diff", Diff._fields[3:])

    @property
    def ids(self) -> Collection[str]:
        """The ids of all events."""
        return self._places.keys()

    @property
    def times(self) -> Column:
        """When each event happened, by its place."""
        return self._events["ts"]

    @cached_property
    def types(self) -> list[str]:
        """The type of each event, by its place."""
        return self._events["type"].tolist()  # type: ignore[no-any-return]

    @cached_property
    def actors(self) -> list[str]:
        """Who made each event, by its place."""
        return self._events["actor"].tolist()  # type: ignore[no-any-return]

    @cached_property
    def fields(self) -> frozenset[str]:
        """Every field that any diff names."""
        return frozenset(self._fields)

    @cached_property
    def deleted(self) -> frozenset[str]:
        """The entities that any change deleted."""
        roles = zip(self._targets.entities, self._roles, strict=True)
        return frozenset(entity for entity, role in roles if role == "deleted")

    def place(self, event: str) -> int | None:
        """The place of an event, ``None`` where there is no such event."""
        return self._places.get(event)

    def at(self, places: Sequence[int]) -> list[Event]:
        """The events at some places."""
        columns = [self._events[name][places].tolist() for name in Event._fields]
        return [Event(*row) for row in zip(*columns, strict=True)]

    def touching(self, entities: Collection[str]) -> list[int]:
        """The places of all events that touched any of the entities, in order."""
        found = {
            steps.events[at]
            for steps in (self._targets, self._diffs)
            for at in steps.touching(entities)
        }
        return self._in_order(found)

    def altering(self, fields: Collection[str], entities: Collection[str] | None) -> list[int]:
        """The places of all events that altered any of the fields, of any or some entities."""
        steps = self._diffs
        rows = zip(steps.events, steps.entities, self._fields, strict=True)
        found = {
            event
            for event, entity, field in rows
            if field in fields and (entities is None or entity in entities)
        }
        return self._in_order(found)

    def _in_order(self, events: Collection[str]) -> list[int]:
        return sorted(self._places[one] for one in events if one in self._places)

    def targets(self, event: str) -> list[str]:
        """The entities that one event names as its targets, each once, by id."""
        return list(dict.fromkeys(self._targets.entities[at] for at in self._targets.of(event)))

    def diffs(self, event: str) -> list[Diff]:
        """Every diff of one event, by entity and field."""
        return self._diff_rows(self._diffs.of(event))

    def diffs_of(self, entities: Collection[str]) -> list[Diff]:
        """Every diff of some entities, in stored order."""
        return self._diff_rows(list(self._diffs.touching(entities)))

    def _diff_rows(self, rows: Sequence[int]) -> list[Diff]:
        steps, values = self._diffs, self._values
        return [
            Diff(
                steps.events[at],
                steps.entities[at],
                self._fields[at],
                values["old_json"][at],
                values["new_json"][at],
                bool(values["redacted"][at]),
            )
            for at in rows
        ]

    def touched(self, event: str) -> Touched:
        """Entities and fields of one event."""
        targets, diffs = self._targets.of(event), self._diffs.of(event)
        entities = {self._targets.entities[at] for at in targets}
        entities.update(self._diffs.entities[at] for at in diffs)
        roles = {
            self._targets.entities[at]: self._roles[at]
            for at in targets
            if self._roles[at] != "target"
        }
        fields = dict.fromkeys(self._fields[at] for at in diffs)
        return Touched(tuple(sorted(entities)), tuple(fields), roles)
