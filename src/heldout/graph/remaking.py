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

Tables = Mapping[str, Mapping[str, Any]]
_ROLES = frozenset({"deleted", "applied"})


class _Remade(NamedTuple):
    """An entity that a change deleted or applied anew."""

    change: str
    ts: int
    entity: str
    role: str


class _Span(NamedTuple):
    """A fact, and from when until when it holds."""

    field: str
    value: str
    since: int
    until: int


def check_remade(tables: Tables) -> None:
    """Raise :class:`WorldError` where deletions and re-applications contradict the rest.

    The rules are those of :mod:`heldout.graph.identity`.
    """
    remade = _remade(tables)
    named = _alike(tables, {one.entity for one in remade})
    lives = {one.life.id: one.life for one in named}
    for one in remade:
        column = "last_seen" if one.role == "deleted" else "first_seen"
        if getattr(lives[one.entity], column) != one.ts:
            raise WorldError(
                f"it is {one.role} at {one.ts}, but its {column} is another time",
                where=f"entity {one.entity}",
                mend=f"Set {column} to the ts of that change",
            )
    facts = _facts(tables, lives)
    _check_spans(tables, remade, facts)
    joined = incarnations(named, lambda ids: _homes(tables, facts, ids))
    for one in remade:
        if one.role == "applied":
            _check_diff(tables, one, _life_before(joined, one.entity), facts)


def _rows(
    table: Mapping[str, Any], *names: str, only: Collection[str] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Rows of some columns; with ``only``, those whose first column is among them."""
    columns = [table[name] for name in names]
    if only is None:
        return zip(*columns, strict=True)
    places = [at for at, one in enumerate(columns[0]) if one in only]
    return (tuple(column[at] for column in columns) for at in places)


def _remade(tables: Tables) -> list[_Remade]:
    found = list(_rows(tables["change_target"], "role", "event_id", "entity_id", only=_ROLES))
    events = {event for _, event, _ in found}
    when = {own: int(ts) for own, ts in _rows(tables["change_event"], "id", "ts", only=events)}
    return sorted(_Remade(event, when[event], one, role) for role, event, one in found)


def _alike(tables: Tables, ids: Collection[str]) -> list[Named]:
    """The entities of those ids and all that share kind, name and cluster with one of them."""
    rows = list(_rows(tables["entity"], "kind", "name", "cluster", "id", "first_seen", "last_seen"))
    keys = {row[:3] for row in rows if row[3] in ids}
    return [
        Named(kind, name, cluster, Life(own, int(first), int(last)))
        for kind, name, cluster, own, first, last in rows
        if (kind, name, cluster) in keys
    ]


def _facts(tables: Tables, ids: Collection[str]) -> dict[str, list[_Span]]:
    """What ever held of the given entities."""
    found: dict[str, list[_Span]] = {}
    names = ("entity_id", "field", "value_json", "valid_from", "valid_to")
    for entity, *span in _rows(tables["fact"], *names, only=ids):
        found.setdefault(entity, []).append(_Span(*span))
    return found


def _check_spans(
    tables: Tables, remade: Sequence[_Remade], facts: Mapping[str, Sequence[_Span]]
) -> None:
    """Nothing holds of an entity after its deletion or before its re-application."""
    edges: dict[str, list[tuple[str, int, int]]] = {one.entity: [] for one in remade}
    for end, other in (("src", "dst"), ("dst", "src")):
        names = (end, other, "pred", "valid_from", "valid_to")
        for one, far, pred, since, until in _rows(tables["edge"], *names, only=set(edges)):
            src, dst = (one, far) if end == "src" else (far, one)
            edges[one].append((f"edge {src} {pred} {dst}", since, until))
    for _, ts, entity, role in remade:
        spans = [
            *((f"fact {entity}.{one.field}", *one[2:]) for one in facts.get(entity, ())),
            *edges[entity],
        ]
        for where, since, until in spans:
            if role == "deleted" and until > ts:
                raise WorldError(
                    f"it holds until {until}, though its entity was deleted before",
                    where=where,
                    mend="End what holds of a deleted entity at the entity's last_seen",
                )
            if role == "applied" and since < ts:
                raise WorldError(
                    f"it holds from {since} on, though its entity was applied later",
                    where=where,
                    mend="Begin what holds of an entity that was applied anew at its first_seen",
                )


def _homes(
    tables: Tables, facts: Mapping[str, Sequence[_Span]], ids: Collection[str]
) -> Mapping[str, str]:
    known = {own: (kind, name) for own, kind, name in _rows(tables["entity"], "id", "kind", "name")}
    edges = _rows(tables["edge"], "src", "pred", "dst", only=set(ids))
    return homes_of(
        [(one, span.field, span.value) for one in ids for span in facts.get(one, ())],
        [(src, *known[dst]) for src, pred, dst in edges if pred == "part_of"],
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


def _check_diff(
    tables: Tables, applied: _Remade, before: Life, facts: Mapping[str, Sequence[_Span]]
) -> None:
    """The re-applying change says in which fields the new one differs, no more and no less."""
    old = _held(facts.get(before.id, ()), before.last_seen - 1)
    wanted = reapplied_diff(old, _held(facts.get(applied.entity, ()), applied.ts))
    told: dict[str, tuple[Any, Any] | None] = {}
    names = ("event_id", "entity_id", "field", "old_json", "new_json", "redacted")
    rows = _rows(tables["change_diff"], *names, only={applied.change})
    for _, entity, field, left, right, redacted in rows:
        if entity == applied.entity:
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


def _held(spans: Sequence[_Span], at: int) -> dict[str, Any]:
    return {one.field: orjson.loads(one.value) for one in spans if one.since <= at < one.until}
