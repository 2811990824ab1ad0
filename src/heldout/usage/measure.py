"""What a measure is: it counts over one investigation, and what it counted is summed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from heldout.usage.play import Play

Place = Literal["tools", "graph", "brain"]
"""Who would have to change: the tools, what the graph holds, or how the agent goes about it."""


@dataclass(slots=True)
class RowTally:
    """One row of a tally; ``of`` is 0 where the count has no whole of its own."""

    count: int = 0
    of: int = 0
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """What was counted in one investigation: ``count`` of ``of``, and by name."""

    count: int = 0
    of: int = 0
    rows: dict[str, RowTally] = field(default_factory=dict)

    def note(self, name: str, count: int = 1, *, of: int = 0, **figures: float) -> None:
        """Add to a row."""
        self.add(name, RowTally(count, of, figures))

    def add(self, name: str, more: RowTally) -> None:
        """Add a row to the row of its name."""
        row = self.rows.setdefault(name, RowTally())
        row.count += more.count
        row.of += more.of
        for key, value in more.figures.items():
            row.figures[key] = row.figures.get(key, 0.0) + value

    def hit(self, name: str, **figures: float) -> None:
        """Add one to the whole and to a row."""
        self.count += 1
        self.add(name, RowTally(1, 0, figures))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a finding. ``investigations`` are those in which it was counted."""

    name: str
    count: int
    of: int
    investigations: int
    figures: dict[str, float]

    @property
    def share(self) -> float | None:
        """``count`` of ``of``; undefined with nothing to count."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a measure says over many investigations: rows with the largest count first."""

    key: str
    title: str
    unit: str
    detail: str
    count: int
    of: int
    investigations: int
    rows: tuple[Row, ...]

    @property
    def share(self) -> float | None:
        """``count`` of ``of`` (a mean where ``of`` counts investigations); undefined, never 1."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What would help, with the counts behind it."""

    place: Place
    text: str
    count: int
    investigations: int


class Measure(Protocol):
    """Counts one kind of thing. Has no state; ``of`` 0 means that there was nothing to count."""

    key: str
    title: str
    unit: str
    """What ``of`` counts, in the plural."""
    detail: str = ""
    """What the rows say, where they say more than the title; then they are always shown."""

    def count(self, play: Play) -> Tally:
        """Count over one investigation."""
        ...

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """What the counts over all investigations suggest; nothing by default."""
        return ()


class Sums:
    """Adds up the tallies of one measure."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self._total = Tally()
        self._plays = 0
        self._in: dict[str, int] = {}

    def add(self, tally: Tally) -> None:
        """Add the tally of one investigation."""
        total = self._total
        total.count += tally.count
        total.of += tally.of
        self._plays += bool(tally.count)
        for name, row in tally.rows.items():
            total.add(name, row)
            self._in[name] = self._in.get(name, 0) + bool(row.count)

    def finding(self) -> Finding:
        """The sum."""
        total, measure = self._total, self.measure
        rows = sorted(total.rows.items(), key=lambda item: (-item[1].count, item[0]))
        return Finding(
            key=measure.key,
            title=measure.title,
            unit=measure.unit,
            detail=measure.detail,
            count=total.count,
            of=total.of,
            investigations=self._plays,
            rows=tuple(
                Row(name, row.count, row.of, self._in[name], row.figures) for name, row in rows
            ),
        )


def times(count: int, one: str = "time", many: str = "") -> str:
    """``1 time``, ``3 times``."""
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"


def percent(share: float) -> str:
    """A share in whole per cent."""
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def by(count: int, investigations: int) -> str:
    """``3 times by 2 investigations``."""
    return f"{times(count)} by {times(investigations, 'investigation')}"
