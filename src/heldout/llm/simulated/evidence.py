"""Reading what tools answer: names in messages, settings that a message speaks of, changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from heldout.llm.simulated.transcript import Row, seconds

_LIMIT = 2000


def text(row: Row, name: str) -> str:
    """A field of a row as text; missing or of another shape is empty."""
    value = row.get(name)
    if isinstance(value, str):
        return value[:_LIMIT]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def number(row: Row, name: str) -> float:
    """A field of a row as a number; anything else is 0."""
    value = row.get(name)
    return float(value) if isinstance(value, int | float) and value == value else 0.0


def texts(row: Row, name: str) -> tuple[str, ...]:
    """A list of texts in a row."""
    value = row.get(name)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


_R = TypeVar("_R")
_KEPT = 4096


def once_per_answer(
    read: Callable[[Sequence[Row]], tuple[_R, ...]],
) -> Callable[[Sequence[Row]], tuple[_R, ...]]:
    """Keep what was read of an answer's rows: an investigation is run anew at every request.

    Kept by the identity of the rows, which the reader of transcripts holds on to as well.
    """
    kept: dict[int, tuple[Sequence[Row], tuple[_R, ...]]] = {}

    def reading(rows: Sequence[Row]) -> tuple[_R, ...]:
        known = kept.get(id(rows))
        if known is not None and known[0] is rows:
            return known[1]
        found = read(rows)
        if len(kept) >= _KEPT:
            kept.clear()
        kept[id(rows)] = (rows, found)
        return found

    return reading


@dataclass(frozen=True, slots=True)
class Thing:
    """An entity as a row showed it."""

    id: str
    kind: str
    name: str
    cluster: str = ""
    status: str = ""
    predicate: str = ""
    direction: str = ""
    depth: int = 1


@once_per_answer
def things(rows: Sequence[Row]) -> tuple[Thing, ...]:
    """The entities of rows of search_entities or get_neighbors."""
    found = []
    for row in rows:
        if text(row, "id"):
            found.append(
                Thing(
                    text(row, "id"), text(row, "kind"), text(row, "name"), text(row, "cluster"),
                    text(row, "status"), text(row, "predicate"), text(row, "direction"),
                    int(number(row, "depth")) or 1,
                )
            )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Sign:
    """A log pattern or line that speaks of trouble."""

    message: str
    level: str
    count: float
    baseline: float
    new: bool
    example: str
    entity: str
    entity_name: str

    @property
    def fresh(self) -> bool:
        """True when it began with the incident, or grew with it."""
        return self.new or self.count > 3 * max(1.0, self.baseline)


@once_per_answer
def signs(rows: Sequence[Row]) -> tuple[Sign, ...]:
    """Rows of log_patterns or search_logs; both shapes are read."""
    found = []
    for row in rows:
        message = text(row, "pattern") or text(row, "msg")
        if message:
            found.append(
                Sign(
                    message, text(row, "level").upper(), number(row, "count") or 1.0,
                    number(row, "baseline_count"), row.get("new") is True,
                    text(row, "example_id") or text(row, "id"),
                    text(row, "entity"), text(row, "entity_name"),
                )
            )  # fmt: skip
    return tuple(found)


MASK = "<*>"
"""What stands for a number in a log pattern."""


def longest_part(pattern: str) -> str:
    """The longest stretch of a pattern without a masked number, to search lines with."""
    return max((part.strip() for part in pattern.split(MASK)), key=len)[:120]


def quoted(sign: Sign, lines: Iterable[Sign]) -> Sign:
    """The sign with a line's own words in place of its pattern, where a line matches it."""
    parts = [part.strip() for part in sign.message.split(MASK)]
    for line in lines:
        if all(part in line.message for part in parts):
            return replace(sign, message=line.message, example=line.example or sign.example)
    return sign


@dataclass(frozen=True, slots=True)
class Change:
    """A change as a list or a detail showed it."""

    id: str
    at: float
    type: str
    summary: str
    actor_kind: str
    entities: tuple[str, ...]
    names: tuple[str, ...]
    fields: tuple[str, ...]
    cut: bool = False
    """True when it touched more than was shown."""
    pairs: frozenset[tuple[str, str]] = frozenset()
    """(entity, field) of each diff, where diffs were shown."""


@once_per_answer
def changes(rows: Sequence[Row]) -> tuple[Change, ...]:
    """Rows of list_changes or get_change; rows without id or time are left out."""
    found = []
    for row in rows:
        at = seconds(text(row, "ts"))
        if not text(row, "id") or at is None:
            continue
        entities, names, fields = _targets(row)
        found.append(
            Change(
                text(row, "id"), at, text(row, "type"), text(row, "summary"),
                text(row, "actor_kind"), entities, names, fields,
                cut="more_fields" in row or "more_entities" in row,
                pairs=_pairs(row),
            )
        )  # fmt: skip
    return tuple(found)


def _pairs(row: Row) -> frozenset[tuple[str, str]]:
    value = row.get("diffs")
    listed = value if isinstance(value, list) else []
    return frozenset(
        (text(one, "entity"), text(one, "field")) for one in listed if isinstance(one, dict)
    )


def joined(first: Change, second: Change) -> Change:
    """One change from two pages of it."""
    return replace(
        first,
        entities=tuple(dict.fromkeys((*first.entities, *second.entities))),
        names=tuple(dict.fromkeys((*first.names, *second.names))),
        fields=tuple(dict.fromkeys((*first.fields, *second.fields))),
        cut=second.cut,
        pairs=first.pairs | second.pairs,
    )


def alike(name: str, other: str) -> bool:
    """True for equal names and for those that differ in one part at most."""
    one, two = set(words(name)), set(words(other))
    return name == other or (len(one & two) >= max(len(one), len(two)) - 1 and len(one & two) > 1)


def _targets(row: Row) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    ids, names, fields = [], [], list(texts(row, "fields"))
    for listed, id_key, name_key in (
        ("entities", "id", "name"),
        ("diffs", "entity", "entity_name"),
    ):
        value = row.get(listed)
        for one in value if isinstance(value, list) else []:
            if isinstance(one, dict):
                ids.append(text(one, id_key))
                names.append(text(one, name_key))
                fields.append(text(one, "field"))
    return (
        tuple(one for one in dict.fromkeys(ids) if one),
        tuple(one for one in dict.fromkeys(names) if one),
        tuple(one for one in dict.fromkeys(fields) if one),
    )


_NAME_EDGE = re.compile(r"[A-Za-z0-9_]")


@lru_cache(maxsize=16384)
def mentions(message: str, name: str) -> bool:
    """True when a message names an entity, not merely a longer name that contains it."""
    if len(name) < 3:
        return False
    at = message.find(name)
    while at >= 0:
        before = message[at - 1] if at else " "
        after = message[at + len(name) : at + len(name) + 2]
        longer = after[:1] == "-" and _NAME_EDGE.match(after[1:2] or " ")
        apart = not _NAME_EDGE.match(before) and before != "-"
        if apart and not longer and not _NAME_EDGE.match(after[:1] or " "):
            return True
        at = message.find(name, at + 1)
    return False


_CALLED = re.compile(
    r"\b(?:to|from|of|on|upstream|dependency|store)\s+([a-z][a-z0-9]*(?:[-.][a-z0-9]+)*)\b"
)


def called(message: str) -> tuple[str, ...]:
    """What a message may call by name: "call to ...", "upstream ...", "query on ..."."""
    found = [one for one in _CALLED.findall(message) if len(one) > 5 and one not in _PLAIN]
    return tuple(sorted(dict.fromkeys(found), key=lambda one: "-" not in one))


_PLAIN = frozenset(
    ["client", "clients", "callers", "requests", "calls", "records", "answers", "connection",
     "connections", "status", "replicas", "storage", "systems", "session", "sessions", "memory"]
)  # fmt: skip
"""Ordinary words that stand where a name could."""


_SPLIT = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(maxsize=16384)
def words(identifier: str) -> tuple[str, ...]:
    """The words of an identifier in any spelling: ``maxConnections`` is max, connections."""
    return tuple(_singular(part.lower()) for part in _SPLIT.findall(identifier))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_KEYED = re.compile(r"([A-Za-z][A-Za-z0-9_.\-/]*[A-Za-z0-9])\s*(?:=|:\s*(?=\d|true|false))")
_SHAPED = re.compile(
    r"\b(?:[a-z0-9]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Z0-9]+(?:_[A-Z0-9]+)+"
    r"|[a-z][a-z0-9]*(?:\.[a-zA-Z0-9_-]+)+|[a-z0-9]+(?:-[a-z0-9]+)+)\b"
)
_QUOTED = re.compile(r"['\"`]([A-Za-z][A-Za-z0-9_.\-/ ]{1,60})['\"`]")


@lru_cache(maxsize=4096)
def keys(message: str) -> tuple[str, ...]:
    """What in a message looks like the name of a setting, the likeliest first."""
    found = [*_KEYED.findall(message), *_QUOTED.findall(message), *_SHAPED.findall(message)]
    return tuple(dict.fromkeys(one for one in found if len(words(one)) <= 8))[:24]


_COMMON = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "not",
        "was",
        "are",
        "all",
        "from",
        "too",
        "has",
        "have",
        "been",
        "that",
        "this",
        "but",
        "its",
        "than",
        "into",
        "over",
        "call",
        "to",
        "of",
        "in",
        "on",
        "is",
        "at",
        "by",
        "an",
        "a",
        "it",
        "or",
        "no",
        "be",
        "as",
        "failed",
        "error",
        "request",
        "spec",
        "data",
        "value",
        "name",
        "id",
    ]
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of an entity with its value."""

    entity: Thing
    field: str
    value: str
    since: float | None


def facts(thing: Thing, row: Row) -> tuple[Fact, ...]:
    """The fields of a get_entity row."""
    fields = row.get("fields")
    found = []
    for name, held in fields.items() if isinstance(fields, Mapping) else ():
        if isinstance(held, Mapping):
            value, since = held.get("value"), seconds(text(held, "since"))
        else:
            value, since = held, None
        found.append(Fact(thing, str(name), _shown(value), since))
    return tuple(found)


def _shown(value: Any) -> str:
    return value[:200] if isinstance(value, str) else str(value)[:200]


def leaf(field: str) -> str:
    """The last part of a field's path."""
    return re.split(r"[./\[\]]", field.rstrip("].\"'"))[-1] or field


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


@lru_cache(maxsize=16384)
def likeness(message: str, field: str, value: str) -> float:
    """How surely a message speaks of a field: by its name in any spelling, then by its value."""
    path, last = words(field), words(leaf(field))
    best = 0.0
    for key in keys(message):
        said = words(key)
        if not said or not last:
            continue
        tail = words(leaf(key))
        if path[-len(said) :] == said or (tail == last and len(tail) > 1):
            best = max(best, 3.0 + 0.2 * min(len(said), len(last)))
        elif len(said) > 1 and _within(said, path):
            best = max(best, 2.7)
        elif set(said) == set(last) or set(tail) == set(last):
            best = max(best, 2.4)
        else:
            shared = len(set(said) & set(path)) / max(len(set(said)), len(set(last)))
            best = max(best, 2.2 * shared)
    spoken = set(words(message)) - _COMMON
    named = set(last) - _COMMON
    if named:
        best = max(
            best,
            1.6 * len(named & spoken) / len(named)
            if len(named) > 1
            else 0.8 * (1.0 if named <= spoken else 0.0),
        )
    if (
        value
        and len(value) >= 2
        and re.search(rf"(?<![\w.]){re.escape(value[:80])}(?![\w.])", message)
    ):
        best += 0.5
    return best


def points(row: Row) -> tuple[tuple[float | None, float], ...]:
    """The points of a series: epoch seconds and value; what is no pair is left out."""
    value = row.get("points")
    found = []
    for pair in value if isinstance(value, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], int | float):
            found.append((seconds(pair[0]) if isinstance(pair[0], str) else None, float(pair[1])))
    return tuple(found)
