"""The metrics of a world: series by entity, and their values in one array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from heldout.graph.columns import Column
from heldout.graph.stored import Stored


class Series(NamedTuple):
    """A row of ``metric_series``."""

    id: str
    entity_id: str
    name: str
    unit: str


class Chunk(NamedTuple):
    """A row of ``metric_chunk``: its values stand at ``first`` and after in ``values``."""

    series_id: str
    t0: int
    step_s: int
    first: int
    points: int


class Metrics:
    """The series of a world."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    @cached_property
    def values(self) -> Column:
        """The rows of ``metric_value``, gaps as NaN."""
        return self._stored.values()

    @cached_property
    def _series(self) -> list[Series]:
        return [Series(*row) for row in self._stored.rows("metric_series")]

    @cached_property
    def _chunks(self) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = {}
        for row in self._stored.rows("metric_chunk"):
            found.setdefault(row[0], []).append(Chunk(*row))
        return found

    def of(self, entity: str) -> list[Series]:
        """The series of an entity, by name and id."""
        own = [one for one in self._series if one.entity_id == entity]
        return sorted(own, key=lambda one: (one.name, one.id))

    def chunks(self, series: Sequence[str], until: int) -> list[Chunk]:
        """The chunks of some series that begin by then: the coarse before the fine, by time."""
        found = [one for name in series for one in self._chunks.get(name, ()) if one.t0 <= until]
        return sorted(found, key=lambda one: (one.series_id, -one.step_s, one.t0))
