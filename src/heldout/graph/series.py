"""The metrics of a world: series by entity, and their values in one array."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from heldout.graph.columns import Column
from heldout.graph.stored import Stored

_FEW, _SHORT = 4, 16
"""After so many questions, and for one about more spans than this, all values are read."""


_NAMED = re.compile(r"([^{}]*)\{(.*)\}")
_LABEL = re.compile(r'([a-zA-Z_][\w.]*)="((?:[^"\\]|\\.)*)"')


def name_and_labels(name: str) -> tuple[str, dict[str, str]]:
    """What a series' name says: the metric, and the labels that stand behind it in braces."""
    match = _NAMED.fullmatch(name)
    if match is None:
        return name, {}
    labels = {key: re.sub(r"\\(.)", r"\1", value) for key, value in _LABEL.findall(match[2])}
    return match[1], labels


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
        self._asked = 0

    @cached_property
    def _values(self) -> Column:
        return self._stored.values()

    def values(self, spans: Sequence[tuple[int, int]]) -> list[Column]:
        """The values of each span of rows, gaps as NaN. Spans do not overlap.

        The first questions read what they are about, later ones find everything read.
        """
        if not spans:
            return []
        if self._asked >= _FEW or len(spans) > _SHORT:
            return [self._values[first:end] for first, end in spans]
        self._asked += 1
        order = sorted(range(len(spans)), key=spans.__getitem__)
        found = self._stored.values([spans[at] for at in order])
        ends = np.cumsum([spans[at][1] - spans[at][0] for at in order])
        parts = dict(zip(order, np.split(found, ends[:-1]), strict=True))
        return [parts[at] for at in range(len(spans))]

    @cached_property
    def _series(self) -> list[Series]:
        return [*map(Series._make, self._stored.rows("metric_series"))]

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
