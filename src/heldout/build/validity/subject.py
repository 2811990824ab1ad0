"""An incident under test: its tables with lookups, its twins, and its world as the tools see it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import WorldError
from heldout.graph import write_world
from heldout.graph.files import world_meta
from heldout.graph.schema import LogBlock
from heldout.graph.world import World
from heldout.simulate import Generated
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import MINUTE
from heldout.simulate.world import plot_of, twin
from heldout.truth import Spec, Truth

WINDOW = 2 * MINUTE
"""How long the alerted service is watched, up to the end of the trouble."""


class Subject:
    """One incident under test, with its twins made when first asked for.

    ``folder`` is where its world is written already; without one it is written for the test and
    forgotten. ``twins`` stand in for those that would be made.
    """

    def __init__(
        self,
        spec: Spec,
        made: Generated,
        *,
        folder: Path | None = None,
        twins: Mapping[str, Generated] | None = None,
    ) -> None:
        self.spec, self.made = spec, made
        self._folder = folder
        self._twins: dict[str, Generated] = dict(twins or {})

    @property
    def truth(self) -> Truth:
        """The truth of the incident."""
        return self.made.truth

    @cached_property
    def plot(self) -> Plot:
        """What was rendered."""
        return self.made.plot or plot_of(self.spec)

    @property
    def victim(self) -> str:
        """The service that the alert fired on."""
        return self.plot.land.ground.id(self.plot.binding.victim)

    @property
    def seat(self) -> str:
        """The entity whose own logs state the mechanism."""
        return self.plot.land.ground.id(self.plot.binding.seat)

    @property
    def onset(self) -> int:
        """When the seat began to fail."""
        return self.plot.onset

    def twin(self, variant: str) -> Generated:
        """A twin of the incident."""
        if variant not in self._twins:
            self._twins[variant] = twin(self.spec, self.made, variant)
        return self._twins[variant]

    @cached_property
    def view(self) -> View:
        """The incident's tables, indexed."""
        return View(self.made)

    def failing(self, made: Generated) -> float:
        """Percent of the alerted service's calls that fail in the last minutes of the trouble."""
        view = self.view if made is self.made else View(made)
        return view.failing(self.victim, self.plot.ended)

    @cached_property
    def _written(self) -> tuple[World, str] | WorldError:
        try:
            if self._folder is not None:
                return World(self._folder), world_meta(self._folder).digest
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place) / "world"
                digest = write_world(self.made.tables, folder)
                return World(folder).whole(), digest
        except WorldError as error:
            return error

    @property
    def refused(self) -> WorldError | None:
        """Why the world cannot be written, ``None`` where it can."""
        return self._written if isinstance(self._written, WorldError) else None

    @property
    def world(self) -> World:
        """The world as sessions use it; one that cannot be written is a :class:`WorldError`."""
        if isinstance(self._written, WorldError):
            raise self._written
        return self._written[0]

    @property
    def digest(self) -> str:
        """The digest of the world as written."""
        if isinstance(self._written, WorldError):
            raise self._written
        return self._written[1]


class View:
    """Lookups over a world's tables in memory."""

    def __init__(self, made: Generated) -> None:
        self.tables = made.tables
        self._rows: dict[str, list[dict[str, Any]]] = {}

    @cached_property
    def kind(self) -> dict[str, str]:
        """Kinds by entity."""
        return self._of_entities("kind")

    @cached_property
    def name(self) -> dict[str, str]:
        """Names by entity."""
        return self._of_entities("name")

    def _of_entities(self, column: str) -> dict[str, str]:
        entity = self.tables.columns["entity"]
        return dict(zip(entity["id"], entity[column], strict=True))

    @cached_property
    def near(self) -> dict[str, list[str]]:
        """What each entity has an edge with, in either direction."""
        found: dict[str, list[str]] = {}
        edge = self.tables.columns["edge"]
        for src, dst in zip(edge["src"], edge["dst"], strict=True):
            found.setdefault(src, []).append(dst)
            found.setdefault(dst, []).append(src)
        return found

    def rows(self, table: str) -> list[dict[str, Any]]:
        """One table as rows; not to be altered."""
        if table not in self._rows:
            columns = self.tables.columns[table]
            names = list(columns)
            self._rows[table] = [
                dict(zip(names, values, strict=True))
                for values in zip(*(columns[name] for name in names), strict=True)
            ]
        return self._rows[table]

    def within(self, entity: str, hops: int) -> set[str]:
        """Entities at most ``hops`` edges away."""
        seen = {entity}
        edge = [entity]
        for _ in range(hops):
            edge = [other for at in edge for other in self.near.get(at, ()) if other not in seen]
            seen.update(edge)
        return seen

    def failing(self, entity: str, until: int | None = None, *, window: int = WINDOW) -> float:
        """The entity's error share in percent: the median of the ``window`` that ends ``until``.

        Without ``until`` it ends with the world; 0 where there is no such series.
        """
        for row in self.rows("metric_series"):
            if row["entity_id"] == entity and row["name"] == "error_share":
                return self._median(row["id"], self.tables.now if until is None else until, window)
        return 0.0

    def _median(self, series: str, until: int, window: int) -> float:
        block = self.tables.metrics[-1]
        step = block.step_s * 1_000_000
        end = (until - block.t0) // step + 1
        first = end - max(1, window // step)
        values = block.values[list(block.series_ids).index(series), first:end]
        values = values[~np.isnan(values)]
        return float(np.median(values)) if len(values) else 0.0

    def fresh_lines(self, entity: str, since: int) -> list[tuple[str, str]]:
        """(level, template) of the entity's patterns whose first line is not before ``since``."""
        found = []
        for block in self.tables.logs:
            for number, owner in enumerate(block.template_entity):
                if owner == entity and _first(block, number) >= since:
                    found.append((block.template_level[number], block.templates[number]))
        return found


def _first(block: LogBlock, number: int) -> int:
    ts = block.ts[block.template == number]
    return int(ts.min()) if len(ts) else -1
