"""Whether a world is consistent about what it says was deleted and applied anew."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from heldout.errors import WorldError
from heldout.graph.identity import (
    Incarnations,
    Life,
    Named,
    homes_of,
    incarnations,
    reapplied_diff,
)

Columns = Mapping[str, Mapping[str, Sequence[Any]]]


class _Remade(NamedTuple):
    """An entity that a change deleted or applied anew."""

    change: str
    ts: int
    entity: str
    role: str


def check_remade(tables: Columns) -> None:
    """Raise :class:`WorldError` where deletions and re-applications contradict the rest.

    The rules are those of :mod:`heldout.graph.identity`.
    """
    lives = {one.life.id: one.life for one in _named(tables)}
    remade = _remade(tables)
    for one in remade:
        column = "last_seen" if one.role == "deleted" else "first_seen"
        if getattr(lives[one.entity], column) != one.ts:
            raise WorldError(
                f"it is {one.role} at {one.ts}, but its {column} is another time",
                where=f"entity {one.entity}",
                mend=f"Set {column} to the ts of that change",
            )
    _check_spans(tables, remade)
    joined = incarnations(_named(tables), lambda ids: _homes(tables, ids))
    for one in remade:
        if one.role == "applied":
            _check_diff(tables, one, _life_before(joined, one.entity))


def _rows(table: Mapping[str, Sequence[Any]], *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name] for name in names), strict=True)


def _named(tables: Columns) -> list[Named]:
    names = ("kind", "name", "cluster", "id", "first_seen", "last_seen")
    return [
        Named(kind, name, cluster, Life(own, int(first), int(last)))
        for kind, name, cluster, own, first, last in _rows(tables["entity"], *names)
    ]


def _remade(tables: Columns) -> list[_Remade]:
    when = {own: int(ts) for own, ts in _rows(tables["change_event"], "id", "ts")}
    rows = _rows(tables["change_target"], "event_id", "entity_id", "role")
    found = [_Remade(event, when[event], one, role) for event, one, role in rows
             if role != "target"]  # fmt: skip
    return sorted(found)


def _check_spans(tables: Columns, remade: Sequence[_Remade]) -> None:
    """Nothing holds of an entity after its deletion or before its re-application."""
    ended = {one.entity: one.ts for one in remade if one.role == "deleted"}
    begun = {one.entity: one.ts for one in remade if one.role == "applied"}
    rows = [
        ((entity,), f"fact {entity}.{field}", since, until)
        for entity, field, since, until in _rows(
            tables["fact"], "entity_id", "field", "valid_from", "valid_to"
        )
    ]
    rows += [
        ((src, dst), f"edge {src} {pred} {dst}", since, until)  # type: ignore[misc]
        for src, pred, dst, since, until in _rows(
            tables["edge"], "src", "pred", "dst", "valid_from", "valid_to"
        )
    ]
    for entities, where, since, until in rows:
        for entity in entities:
            if until > ended.get(entity, until):
                raise WorldError(
                    f"it holds until {until}, though its entity was deleted before",
                    where=where,
                    mend="End what holds of a deleted entity at the entity's last_seen",
                )
            if since < begun.get(entity, since):
                raise WorldError(
                    f"it holds from {since} on, though its entity was applied later",
                    where=where,
                    mend="Begin what holds of an entity that was applied anew at its first_seen",
                )


def _homes(tables: Columns, ids: Collection[str]) -> Mapping[str, str]:
    wanted = set(ids)
    known = {own: (kind, name) for own, kind, name in _rows(tables["entity"], "id", "kind", "name")}
    facts = _rows(tables["fact"], "entity_id", "field", "value_json")
    edges = _rows(tables["edge"], "src", "pred", "dst")
    return homes_of(
        [(one, field, value) for one, field, value in facts if one in wanted],
        [(src, *known[dst]) for src, pred, dst in edges if src in wanted and pred == "part_of"],
    )


def _life_before(joined: Incarnations, entity: str) -> Life:
    lives = {life.id: life for life in joined.all(entity)}
    before = joined.until(entity)[:-1]
    if not before:
        raise WorldError(
            "it is applied anew, but nothing of its kind, cluster, namespace and name ended before",
            where=f"entity {entity}",
            mend="Give both incarnations the same, or the new one the role 'target'",
        )
    return lives[before[-1]]


def _check_diff(tables: Columns, applied: _Remade, before: Life) -> None:
    """The re-applying change says in which fields the new one differs, no more and no less."""
    old = _facts_at(tables, before.id, before.last_seen - 1)
    wanted = reapplied_diff(old, _facts_at(tables, applied.entity, applied.ts))
    told: dict[str, tuple[Any, Any] | None] = {}
    names = ("event_id", "entity_id", "field", "old_json", "new_json", "redacted")
    for event, entity, field, left, right, redacted in _rows(tables["change_diff"], *names):
        if (event, entity) == (applied.change, applied.entity):
            told[field] = None if redacted else (orjson.loads(left), orjson.loads(right))
    meant = {
        one.field: None if told.get(one.field, ()) is None else (one.old, one.new) for one in wanted
    }
    for field in sorted(told.keys() | meant.keys()):
        if told.get(field, ()) != meant.get(field, ()):
            raise WorldError(
                f"field '{field[:60]}' of {applied.entity} does not go from what was deleted to "
                "what was applied",
                where=f"change_diff of {applied.change}",
                mend="Write the rows of heldout.graph.identity.reapplied_diff, no more, no less",
            )


def _facts_at(tables: Columns, entity: str, at: int) -> dict[str, Any]:
    names = ("entity_id", "field", "value_json", "valid_from", "valid_to")
    return {
        field: orjson.loads(value)
        for one, field, value, since, until in _rows(tables["fact"], *names)
        if one == entity and since <= at < until
    }
