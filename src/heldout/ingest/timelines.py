"""Rows that hold for a time: what bounds are known, and what follows from a world's own.

Of what is told without a time nothing is known but that it holds; written, it holds from the
world's beginning, and read again it has no bounds of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from heldout.graph.schema import OPEN_END, TABLES

Row = dict[str, Any]


class FactRow(NamedTuple):
    """A row of a draft's facts: there may be millions, and a mapping takes three times as much."""

    entity_id: str
    field: str
    value_json: str
    valid_from: int | None
    valid_to: int | None
    observed_at: int | None
    provenance: str
    confidence: float
    source: str
    event_id: str


class EdgeRow(NamedTuple):
    """A row of a draft's edges."""

    src: str
    pred: str
    dst: str
    valid_from: int | None
    valid_to: int | None
    observed_at: int | None
    provenance: str
    confidence: float
    source: str
    event_id: str


def or_else(value: int | None, other: int) -> int:
    """A bound, or the other where it is not known."""
    return other if value is None else value


def unbounded(row: Row, start: int) -> Row:
    """A stored row with what was not known as None again."""
    found = dict(row)
    if found.get("valid_from") == start:
        found["valid_from"] = found["observed_at"] = None
    if found.get("valid_to") == OPEN_END:
        found["valid_to"] = None
    if found.get("first_seen") == start:
        found["first_seen"] = None
    if "last_seen" in found:
        found["last_seen"] = None
    return found


def bounded(held: FactRow | EdgeRow, start: int) -> Row:
    """A row with the bounds that are not known taken from the world's."""
    row = held._asdict()
    since = or_else(row["valid_from"], start)
    until = max(or_else(row["valid_to"], OPEN_END), since)
    observed = max(or_else(row["observed_at"], since), since)
    return {**row, "valid_from": since, "observed_at": observed, "valid_to": until}


def timeline(held: Sequence[FactRow], start: int) -> list[Row]:
    """What one source says of one field, in order: each value ends where the next begins."""
    rows = sorted((bounded(row, start) for row in held), key=lambda row: row["valid_from"])
    for row, later in pairwise(rows):
        row["valid_to"] = min(row["valid_to"], later["valid_from"])
    return [row for row in rows if row["valid_to"] > row["valid_from"]]


def columns_of(table: str, rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Rows as columns, without holding them all twice."""
    found: dict[str, list[Any]] = {column: [] for column, _ in TABLES[table]}
    for row in rows:
        for column, values in found.items():
            values.append(row[column])
    return found
