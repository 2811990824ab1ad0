"""What holds and held of entities, by entity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from heldout.graph.columns import Column, runs
from heldout.graph.schema import PROVENANCE
from heldout.graph.stored import Stored


class FactRow(NamedTuple):
    """A row of ``fact``; ``value_json`` is not yet decoded."""

    field: str
    value_json: str
    valid_from: int
    valid_to: int
    observed_at: int
    provenance: str
    confidence: float
    source: str


_BY_TIME = itemgetter(0, 1, 2)
_RANK = {word: -place for place, word in enumerate(PROVENANCE)}
"""Of what two sources say for the same time, what was observed outranks what was declared."""


def _by_field(row: FactRow) -> tuple[str, int, int, int]:
    return row.field, row.valid_from, row.observed_at, _RANK.get(row.provenance, -len(_RANK))


class Facts:
    """The facts of a world. Rows become Python values when their entity is asked for."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    @cached_property
    def _columns(self) -> tuple[list[Column], dict[str, slice]]:
        found = self._stored.columns("fact", ("entity_id", *FactRow._fields))
        return [found[name] for name in FactRow._fields], runs(found["entity_id"])

    def of(self, entity: str) -> list[FactRow]:
        """Every row of one entity in stored order, which is by field and time."""
        columns, places = self._columns
        place = places.get(entity)
        if place is None:
            return []
        return [
            FactRow(*row) for row in zip(*(one[place].tolist() for one in columns), strict=True)
        ]

    def at(self, entity: str, moment: int) -> dict[str, FactRow]:
        """What holds of one entity at a time, by field; of two rows the one that began last.

        Of two that began together the one that was observed.
        """
        held = [one for one in self.of(entity) if one.valid_from <= moment < one.valid_to]
        return {one.field: one for one in sorted(held, key=_by_field)}

    def texts(self, entity: str, moment: int) -> dict[str, str]:
        """The same as JSON text, and by nothing but time: quicker, for what reads many entities."""
        columns, places = self._columns
        place = places.get(entity)
        if place is None:
            return {}
        fields, texts, since, until, known, who = (one[place].tolist() for one in columns[:6])
        ranks = [_RANK.get(one, -len(_RANK)) for one in who]
        held = [
            row
            for row in zip(since, known, ranks, fields, texts, until, strict=True)
            if row[0] <= moment < row[5]
        ]
        held.sort(key=_BY_TIME)
        return {row[3]: row[4] for row in held}

    @cached_property
    def fields(self) -> frozenset[str]:
        """Every field that any fact names."""
        return frozenset(self._columns[0][0].tolist())


class Holding:
    """What holds of entities at one time: fields as JSON text, the latest row of each."""

    def __init__(self, facts: Facts, moment: int) -> None:
        self._facts = facts
        self._moment = moment

    def get(self, entity: str, default: Mapping[str, str], /) -> Mapping[str, str]:
        """The fields of one entity, ``default`` where it has no facts at all."""
        return self._facts.texts(entity, self._moment) or default
