"""The log of a world without the texts: when and by which pattern each line was said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from heldout.graph.columns import Column
from heldout.graph.stored import Stored


class Pattern(NamedTuple):
    """A row of ``log_template``."""

    id: int
    entity_id: str
    level: str
    template: str


class Counted:
    """How often each pattern occurs in a run of rows, and where it last does."""

    def __init__(self, pattern_ids: Column, first: int, patterns: int) -> None:
        self._counts: list[int] = np.bincount(pattern_ids, minlength=patterns + 1).tolist()
        last = np.zeros(patterns + 1, dtype=np.int64)
        last[pattern_ids] = np.arange(first, first + len(pattern_ids))  # The last one stays.
        self._last: list[int] = last.tolist()

    def count(self, pattern: int) -> int:
        """The number of its lines."""
        return self._counts[pattern]

    def last(self, pattern: int) -> int:
        """The row of its last line; 0 where it has none."""
        return self._last[pattern]


class LogLines:
    """All lines up to now, by time; line ids are their rows counted from 1."""

    def __init__(self, stored: Stored, now: int) -> None:
        self._stored = stored
        found = stored.columns("log", ("ts", "template_id"))
        known = int(np.searchsorted(found["ts"], now, side="right"))
        self.times: Column = found["ts"][:known]
        self.pattern_ids: Column = found["template_id"][:known]
        self.span: tuple[int, int] | None = (
            (int(self.times[0]), int(self.times[-1])) if known else None
        )

    @cached_property
    def patterns(self) -> list[Pattern]:
        """Every pattern, by its number counted from 1."""
        return [*map(Pattern._make, self._stored.rows("log_template"))]

    @cached_property
    def patterns_by_entity(self) -> dict[str, list[Pattern]]:
        """The patterns of each entity that says anything."""
        found: dict[str, list[Pattern]] = {}
        for one in self.patterns:
            found.setdefault(one.entity_id, []).append(one)
        return found

    def patterns_of(self, entity: str | None, level: str | None) -> list[int]:
        """The numbers of the patterns of an entity, of a level, or of both."""
        return [
            one.id
            for one in self.patterns
            if (entity is None or one.entity_id == entity) and (level is None or one.level == level)
        ]

    def between(self, since: int, until: int) -> tuple[int, int]:
        """The rows of a window with both its ends: the first, and the one after the last."""
        first = int(np.searchsorted(self.times, since, side="left"))
        return first, max(first, int(np.searchsorted(self.times, until, side="right")))

    def rows(self, first: int, end: int, wanted: Sequence[int] | None) -> Column:
        """The rows from ``first`` to before ``end``, all or those of some patterns, by time."""
        if wanted is None:
            return np.arange(first, end, dtype=np.int64)
        chosen = np.zeros(len(self.patterns) + 1, dtype=np.bool_)
        chosen[wanted] = True
        return np.flatnonzero(chosen[self.pattern_ids[first:end]]) + first

    def counted(self, first: int, end: int) -> Counted:
        """The lines from row ``first`` to before ``end``, counted by pattern."""
        return Counted(self.pattern_ids[first:end], first, len(self.patterns))

    def pattern(self, row: int) -> Pattern:
        """The pattern of one line."""
        return self.patterns[int(self.pattern_ids[row]) - 1]
