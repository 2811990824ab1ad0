"""Points of many series on their way into a world, some of them in memory at a time."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from heldout.ingest.telemetry.grid import Numbers, Tally, even_runs
from heldout.ingest.telemetry.places import NAMING, Place

MOST_POINTS = 2_000_000
"""Points of all series that are held before they are handed on."""

MOST_SERIES = 200_000
"""Series of one import; further ones are counted and left out."""

Give = Callable[[Place, str, int, int, Numbers], None]
"""Place, name, first time, step in seconds, values."""

_CARRIED = frozenset({"__name__", "job", "instance", "endpoint", "prometheus", "prometheus_replica",
                      "replica", "uid", "id", "image_id", "container_id"})  # fmt: skip
_LONGEST_NAME = 300
_ESCAPED = re.compile(r'(["\\])')
_ESCAPE = r"\\\1"


@dataclass(slots=True)
class Held:
    """The points of one series that were not given on yet, and its step once it is known."""

    times: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))
    step_s: int = 0


class Sink:
    """Takes points, evens them out, gives runs on.

    The runs of one series all have the step that was found for its first ones. Where more points
    come than are held, those of a series must come in the order of time: runs may not overlap.
    """

    def __init__(self, give: Give) -> None:
        self.tally = Tally()
        self.left_out = 0
        self._give = give
        self._held: dict[tuple[Place, str], Held] = {}
        self._count = 0

    @property
    def series(self) -> int:
        """How many series there were."""
        return len(self._held)

    def held(self, place: Place, name: str) -> Held | None:
        """Where the points of a series go; ``None`` where there are too many series."""
        key = (place, name)
        found = self._held.get(key)
        if found is None:
            if len(self._held) >= MOST_SERIES:
                self.left_out += 1
                return None
            found = self._held[key] = Held()
        return found

    def add(self, held: Held | None, time: int, value: float) -> None:
        """Take one point, at a time in microseconds."""
        if held is None:
            return
        held.times.append(time)
        held.values.append(value)
        self._count += 1
        if self._count >= MOST_POINTS:
            self.flush()

    def extend(
        self, place: Place, name: str, times: Numbers, values: Numbers, step_s: int = 0
    ) -> None:
        """Give many points of one series on at once, at a step where it is known."""
        held = self.held(place, name)
        if held is not None:
            held.step_s = held.step_s or step_s
            self._even(place, name, held, times, values)

    def flush(self) -> None:
        """Give on what is held."""
        for (place, name), held in self._held.items():
            if held.times:
                times = np.frombuffer(held.times, dtype=np.int64)
                values = np.frombuffer(held.values, dtype=np.float64)
                self._even(place, name, held, times, values)
                held.times, held.values = array("q"), array("d")
        self._count = 0

    def _even(self, place: Place, name: str, held: Held, times: Numbers, values: Numbers) -> None:
        for run in even_runs(times, values, self.tally, held.step_s):
            held.step_s = held.step_s or run.step_s
            self._give(place, name, run.t0, run.step_s, run.values)


def name_of(labels: Mapping[str, str]) -> str:
    """A series' name: the metric, and in braces the labels that tell no place."""
    metric = labels.get("__name__") or "value"
    rest = [
        f'{key}="{_ESCAPED.sub(_ESCAPE, value)}"'
        for key, value in sorted(labels.items())
        if value and key.lower() not in NAMING and key not in _CARRIED
    ]
    return (metric + ("{" + ",".join(rest) + "}" if rest else ""))[:_LONGEST_NAME]
