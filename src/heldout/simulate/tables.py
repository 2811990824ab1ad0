"""From ground and changes to a world's tables: base state plus replayed diffs are the facts."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from heldout.graph.schema import OPEN_END, TABLES
from heldout.simulate.dressing import INC
from heldout.simulate.ground import Change, Ground
from heldout.simulate.renewal import found, split
from heldout.simulate.rhythm import DAY, SECOND
from heldout.simulate.streams import token

Columns = dict[str, list[Any]]


class Diff(NamedTuple):
    """One field's step in one change."""

    change: str
    entity: int
    field: str
    old: Any
    new: Any


Key = tuple[int, str]
"""Entity and field."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Changes in order with ids, their diffs by field, and the state they lead to."""

    changes: tuple[Change, ...]
    ids: Mapping[str, str]
    by_field: Mapping[Key, Sequence[Diff]]
    since: Mapping[Key, tuple[tuple[int, str, Any], ...]]
    """For each changed field its later values: (from, change id, value)."""
    state: Mapping[Key, Any]
    edits: Mapping[Key, Sequence[tuple[int, str, Any, Any]]]
    """What was asked for of each field: (when, change id, value, other value)."""

    @property
    def diffs(self) -> Iterator[Diff]:
        """Every diff, field by field, each field's in order of time."""
        return chain.from_iterable(self.by_field.values())


def change_ids(
    seed: int, changes: Sequence[Change], known: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Opaque ids by change key; a clash is salted away, in order. ``known`` ones are kept."""
    ids = dict(known or {})
    used = {own[2:] for own in ids.values()}
    for change in changes:
        key = change.key
        if key in ids:
            continue
        own, salt = token(seed, "change", key), 0
        while own in used:
            salt += 1
            own = token(seed, "change", key, salt)
        used.add(own)
        ids[key] = f"c-{own}"
    return ids


def replay(ground: Ground, changes: Sequence[Change], before: Replay | None = None) -> Replay:
    """Apply the changes in time order; an edit to the value that is already there takes its other.

    An edit without another value that would change nothing is dropped, and so is a second edit of a
    field within one change: a diff has one old and one new value. ``before`` is a replay of some of
    the changes, which is taken up where the others leave a field alone.
    """
    known: Mapping[str, str] = before.ids if before else {}
    ids = change_ids(ground.seed, changes, known)
    edits: dict[Key, list[tuple[int, str, Any, Any]]] = {}
    for change in changes:
        if change.key not in known:
            own, ts = ids[change.key], change.ts
            for entity, field, value, other in change.edits:
                edits.setdefault((entity, field), []).append((ts, own, value, other))
    since = dict(before.since) if before else {}
    diffs = dict(before.by_field) if before else {}
    for key, asked in edits.items():
        if before:
            asked[:0] = before.edits.get(key, ())
        asked.sort(key=itemgetter(0, 1))
        held = ground.base.get(key)
        since[key] = _steps(asked, held)
        diffs[key] = _diffs(key, since[key], held)
    since = {key: steps for key, steps in since.items() if steps}
    return Replay(
        _ordered(changes, ids, before.changes if before else ()),
        ids,
        diffs,
        since,
        {**ground.base, **{key: steps[-1][2] for key, steps in since.items()}},
        {**(before.edits if before else {}), **edits},
    )


def _ordered(
    changes: Sequence[Change], ids: Mapping[str, str], sorted_: Sequence[Change]
) -> tuple[Change, ...]:
    """The changes by time and id; those in ``sorted_`` already are."""
    known = {change.key for change in sorted_}
    fresh = [(one.ts, ids[one.key], at) for at, one in enumerate(changes) if one.key not in known]
    fresh.sort()
    if not sorted_:
        return tuple(changes[at] for _, _, at in fresh)
    found = list(sorted_)
    for _, _, at in fresh:
        insort(found, changes[at], key=lambda one: (one.ts, ids[one.key]))
    return tuple(found)


def _steps(
    asked: Sequence[tuple[int, str, Any, Any]], held: Any
) -> tuple[tuple[int, str, Any], ...]:
    """What comes of the edits of one field, in order, that holds ``held`` at first."""
    steps: list[tuple[int, str, Any]] = []
    last = ""
    for ts, own, value, other in asked:
        if own == last:
            continue
        if value == INC:
            value = (held if isinstance(held, int) else 0) + 1
        elif value == held:
            value = other
        if value is None or value == held:
            continue
        steps.append((ts, own, value))
        held, last = value, own
    return tuple(steps)


def _diffs(key: Key, steps: Sequence[tuple[int, str, Any]], held: Any) -> list[Diff]:
    entity, field = key
    found = []
    for _, own, value in steps:
        found.append(Diff(own, entity, field, held, value))
        held = value
    return found


class _Json:
    """The canonical JSON of values, each written once as long as this lives.

    A value turns up in its diff, in the next one and in its fact: the same object, not an equal one
    (1 equals true).
    """

    def __init__(self) -> None:
        self._texts: dict[int, tuple[str, Any]] = {}

    def __call__(self, value: Any) -> str:
        known = self._texts.get(id(value))
        if known is None:
            text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
            known = self._texts[id(value)] = (text, value)
        return known[0]


def _columns(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Columns:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return dict(zip(names, columns or [[] for _ in names], strict=True))


@lru_cache(maxsize=16_384)
def _lag(own: str) -> int:
    """Collection lag of a change, 1 to 90 s, from its id."""
    return (1 + int(own[2:5], 16) % 90) * SECOND


def world_columns(
    ground: Ground, done: Replay, *, start: int, now: int, extra: Mapping[str, Any]
) -> dict[str, Columns]:
    """Every column-wise table; ``extra`` gives rows of metric_series, alert and data_gap."""
    json = _Json()
    renewed = found(ground, done.changes, done.ids)
    rows = {
        "entity": _entities(ground, start, now),
        "edge": _edges(ground, start),
        **{name: extra.get(name, []) for name in ("metric_series", "alert", "data_gap")},
    }
    tables = {
        name: _columns([column for column, _ in TABLES[name]], given)
        for name, given in rows.items()
    }
    tables["fact"] = _facts(ground, done, start, json)
    tables |= _changes(ground, done, {renewal.entity for renewal in renewed}, json)
    for renewal in renewed:
        split(tables, ground, renewal)
    return tables


def _entities(ground: Ground, start: int, now: int) -> list[tuple[Any, ...]]:
    return [
        (e.id, e.kind, e.name, e.external_id, e.cluster, _born(e.id, start), now)
        for e in ground.entities
    ]


@lru_cache(maxsize=4096)
def _born(own: str, start: int) -> int:
    """When an entity was first seen: 1 to 400 days before the history starts, from its id."""
    return start - (1 + int(own[2:6], 16) % 400) * DAY - int(own[6:10], 16) * SECOND


def _facts(ground: Ground, done: Replay, start: int, json: _Json) -> Columns:
    """Column by column, base state first: by row it would take twice as long."""
    base, since = ground.base, done.since
    steps = [
        (key, step, after[0])
        for key, taken in since.items()
        for step, after in zip(taken, (*taken[1:], (OPEN_END,)), strict=True)
    ]
    places = [entity for entity, _ in base] + [key[0] for key, _, _ in steps]
    born = [_born(entity.id, start) for entity in ground.entities]
    begun = [born[entity] for entity, _ in base]
    ended = [since[key][0][0] if key in since else OPEN_END for key in base]
    one = [ground.entities[place].id for place in places]
    said = [ground.entities[place].said for place in places]
    return {
        "entity_id": one,
        "field": [field for _, field in base] + [key[1] for key, _, _ in steps],
        "value_json": [*map(json, base.values()), *(json(step[2]) for _, step, _ in steps)],
        "valid_from": begun + [step[0] for _, step, _ in steps],
        "valid_to": ended + [end for _, _, end in steps],
        "observed_at": begun + [step[0] + _lag(step[1]) for _, step, _ in steps],
        "provenance": [who for who, _, _ in said],
        "confidence": [sure for _, sure, _ in said],
        "source": [source for _, _, source in said],
        "event_id": [""] * len(base) + [step[1] for _, step, _ in steps],
    }


def _edges(ground: Ground, start: int) -> list[tuple[Any, ...]]:
    rows = []
    for edge in dict.fromkeys(ground.edges):
        src, dst = ground.entities[edge.src].id, ground.entities[edge.dst].id
        born = max(_born(src, start), _born(dst, start))
        rows.append(
            (src, edge.predicate, dst, born, edge.until or OPEN_END, born, edge.provenance,
             edge.confidence, edge.source, "")
        )  # fmt: skip
    return rows


def _changes(
    ground: Ground, done: Replay, renewed: Collection[int], json: _Json
) -> dict[str, Columns]:
    one = [entity.id for entity in ground.entities]
    changes = done.changes
    ids = [done.ids[change.key] for change in changes]
    touched = [
        (own, one[entity], change.role if entity in renewed else "target")
        for own, change in zip(ids, changes, strict=True)
        for entity in change.targets
    ]  # fmt: skip
    told = _columns(Change._fields, changes)
    event = {name: told.get(name, []) for name, _ in TABLES["change_event"]} | {
        "id": ids,
        "observed_at": [ts + _lag(own) for own, ts in zip(ids, told["ts"], strict=True)],
    }
    target: Columns = {
        "event_id": [own for own, _, _ in touched],
        "entity_id": [entity for _, entity, _ in touched],
        "role": [role for _, _, role in touched],
    }
    steps = _columns(Diff._fields, done.diffs)
    diff: Columns = {
        "event_id": steps["change"],
        "entity_id": [one[entity] for entity in steps["entity"]],
        "field": steps["field"],
        "old_json": list(map(json, steps["old"])),
        "new_json": list(map(json, steps["new"])),
        "redacted": [False] * len(steps["field"]),
    }
    return {"change_event": event, "change_target": target, "change_diff": diff}
