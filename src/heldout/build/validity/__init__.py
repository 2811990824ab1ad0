"""The validity gate: one file per point, each with a ``POINT``; found by listing this package.

A point looks at an incident and its twins and returns what is wrong, in sentences; an incident
with any finding is discarded.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import numpy as np

from heldout.graph.schema import LogBlock
from heldout.simulate import Generated, generate, graft
from heldout.truth import Spec, Truth

TWIN_LOG_LINES = 500
"""Twins are compared by their symptoms, so they are spared the day's other lines."""

SYMPTOM_TEMPLATES = 12
"""A block of symptoms has few templates; the day's own block has hundreds."""


class Subject:
    """One incident under test, with its twins made when first asked for."""

    def __init__(self, spec: Spec, made: Generated) -> None:
        self.spec, self.made = spec, made
        self._twins: dict[str, Generated] = {}

    @property
    def truth(self) -> Truth:
        """The truth of the incident."""
        return self.made.truth

    @cached_property
    def victim(self) -> str:
        """The service that the alert fired on."""
        alert = self.made.tables.columns["alert"]
        newest = max(range(len(alert["ts"])), key=lambda at: (alert["ts"][at], at))
        return str(alert["entity_id"][newest])

    @cached_property
    def onset(self) -> int:
        """When the seat's first symptom was written."""
        seat = self.truth.affected[0] if self.truth.affected else ""
        firsts = [
            int(block.ts.min())
            for block in self.made.tables.logs
            if seat in block.template_entity and len(block.templates) <= SYMPTOM_TEMPLATES
            and "ERROR" in block.template_level
        ]  # fmt: skip
        return max(firsts, default=self.made.tables.now)

    def twin(self, variant: str) -> Generated:
        """A twin of the incident."""
        if variant not in self._twins:
            knobs = {**self.spec.knobs, "log_lines": TWIN_LOG_LINES}
            lean = replace(self.spec, knobs=knobs)
            topology = self.made.topology
            self._twins[variant] = (
                generate(lean, variant=variant)
                if topology is None
                else graft(topology, lean, variant=variant)
            )
        return self._twins[variant]

    @cached_property
    def view(self) -> View:
        """The incident's tables, indexed."""
        return View(self.made)


class View:
    """Lookups over a world's tables in memory."""

    def __init__(self, made: Generated) -> None:
        self.tables = made.tables
        self._rows: dict[str, list[dict[str, Any]]] = {}
        entity = made.tables.columns["entity"]
        self.kind = dict(zip(entity["id"], entity["kind"], strict=True))
        self.name = dict(zip(entity["id"], entity["name"], strict=True))
        self.cluster = dict(zip(entity["id"], entity["cluster"], strict=True))
        edge = made.tables.columns["edge"]
        self.near: dict[str, list[str]] = {}
        for src, dst in zip(edge["src"], edge["dst"], strict=True):
            self.near.setdefault(src, []).append(dst)
            self.near.setdefault(dst, []).append(src)

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

    def failing(self, entity: str) -> float:
        """The entity's error share at the end of the world, in percent (median of 2 minutes)."""
        for row in self.rows("metric_series"):
            if row["entity_id"] == entity and row["name"] == "error_share":
                block = self.tables.metrics[-1]
                return float(np.median(block.values[list(block.series_ids).index(row["id"]), -4:]))
        return 0.0

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


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the gate: its name, and what it finds wrong (nothing is good)."""

    name: str
    check: Callable[[Subject], Sequence[str]]


@cache
def points() -> Mapping[str, Point]:
    """Every point by name, in the order of their files."""
    found = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda one: one.name):
        point: Point = import_module(f"{__name__}.{info.name}").POINT
        found[point.name] = point
    return found


def findings(subject: Subject) -> list[str]:
    """Everything that is wrong, each sentence led by its point's name."""
    return [
        f"{name}: {sentence}"
        for name, point in points().items()
        for sentence in point.check(subject)
    ]
