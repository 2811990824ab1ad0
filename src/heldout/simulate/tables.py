"""From ground and changes to a world's tables: base state plus replayed diffs are the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from heldout.graph.schema import OPEN_END, TABLES
from heldout.simulate.dressing import INC
from heldout.simulate.ground import Change, Ground
from heldout.simulate.rhythm import DAY, SECOND
from heldout.simulate.streams import token


@dataclass(frozen=True, slots=True)
class Diff:
    """One field's step in one change."""

    change: str
    entity: int
    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """Changes in order with ids, their diffs, and the state they lead to."""

    changes: tuple[Change, ...]
    ids: Mapping[str, str]
    diffs: tuple[Diff, ...]
    since: Mapping[tuple[int, str], tuple[tuple[int, str, Any], ...]]
    """For each changed field its later values: (from, change id, value)."""
    state: Mapping[tuple[int, str], Any]


def change_ids(seed: int, changes: Sequence[Change]) -> dict[str, str]:
    """Opaque ids by change key; a clash is salted away, in key order."""
    ids: dict[str, str] = {}
    used: set[str] = set()
    for change in changes:
        own, salt = token(seed, "change", change.key), 0
        while own in used:
            salt += 1
            own = token(seed, "change", change.key, salt)
        used.add(own)
        ids[change.key] = f"c-{own}"
    return ids


def replay(ground: Ground, changes: Sequence[Change]) -> Replay:
    """Apply the changes in time order; an edit to the value that is already there takes its other.

    An edit without another value that would change nothing is dropped, and so is a second edit of a
    field within one change: a diff has one old and one new value.
    """
    ids = change_ids(ground.seed, changes)
    ordered = sorted(changes, key=lambda change: (change.ts, ids[change.key]))
    state = dict(ground.base)
    since: dict[tuple[int, str], list[tuple[int, str, Any]]] = {}
    diffs = []
    for change in ordered:
        own = ids[change.key]
        for edit in change.edits:
            key = (edit.entity, edit.field)
            steps = since.get(key)
            if steps and steps[-1][1] == own:
                continue
            old = state.get(key)
            new = edit.value
            if new == INC:
                new = (old if isinstance(old, int) else 0) + 1
            elif new == old:
                new = edit.other
            if new is None or new == old:
                continue
            state[key] = new
            since.setdefault(key, []).append((change.ts, own, new))
            diffs.append(Diff(own, edit.entity, edit.field, old, new))
    return Replay(tuple(ordered), ids, tuple(diffs), {k: tuple(v) for k, v in since.items()}, state)


def _json(value: Any) -> str:
    """The canonical JSON of a value."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _columns(name: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    names = [column for column, _ in TABLES[name]]
    if not rows:
        return {column: [] for column in names}
    return dict(zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True))


def _lag(own: str) -> int:
    """Collection lag of a change, 1 to 90 s, from its id."""
    return (1 + int(own[2:5], 16) % 90) * SECOND


def world_columns(
    ground: Ground, done: Replay, *, start: int, now: int, extra: Mapping[str, Any]
) -> dict[str, dict[str, list[Any]]]:
    """Every column-wise table; ``extra`` gives rows of metric_series, alert and data_gap."""
    tables = {
        "entity": _entities(ground, start, now),
        "fact": _facts(ground, done, start),
        "edge": _edges(ground, start),
        **_changes(ground, done),
    }
    for name in ("metric_series", "alert", "data_gap"):
        tables[name] = extra.get(name, [])
    return {name: _columns(name, rows) for name, rows in tables.items()}


def _entities(ground: Ground, start: int, now: int) -> list[tuple[Any, ...]]:
    return [
        (e.id, e.kind, e.name, e.external_id, e.cluster, _born(e.id, start), now)
        for e in ground.entities
    ]


@lru_cache(maxsize=4096)
def _born(own: str, start: int) -> int:
    """When an entity was first seen: 1 to 400 days before the history starts, from its id."""
    return start - (1 + int(own[2:6], 16) % 400) * DAY - int(own[6:10], 16) * SECOND


def _facts(ground: Ground, done: Replay, start: int) -> list[tuple[Any, ...]]:
    rows = []
    keys = list(ground.base)
    keys += [key for key in done.since if key not in ground.base]
    for key in keys:
        entity = ground.entities[key[0]]
        said = entity.said
        steps = done.since.get(key, ())
        if key in ground.base:
            end = steps[0][0] if steps else OPEN_END
            born = _born(entity.id, start)
            rows.append((entity.id, key[1], _json(ground.base[key]), born, end, born, *said, ""))
        for at, (ts, own, value) in enumerate(steps):
            end = steps[at + 1][0] if at + 1 < len(steps) else OPEN_END
            rows.append((entity.id, key[1], _json(value), ts, end, ts + _lag(own), *said, own))
    return rows


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


def _changes(ground: Ground, done: Replay) -> dict[str, list[tuple[Any, ...]]]:
    events, targets = [], []
    for c in done.changes:
        own = done.ids[c.key]
        events.append(
            (own, c.ts, c.ts + _lag(own), c.type, c.actor, c.actor_kind, c.source, c.pr, c.repo,
             c.commit, c.summary)
        )  # fmt: skip
        targets += [(own, ground.entities[entity].id, "target") for entity in c.targets]
    diffs = [
        (d.change, ground.entities[d.entity].id, d.field, _json(d.old), _json(d.new), False)
        for d in done.diffs
    ]
    return {"change_event": events, "change_target": targets, "change_diff": diffs}
