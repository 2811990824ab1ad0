"""An imported world as ground to graft on: its topology as it stands, and how busy it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from heldout.errors import SpecError
from heldout.graph import read_tables, verify_world, world_meta
from heldout.graph.topology import Topology, TopologyEdge, TopologyEntity, TopologyFact
from heldout.graph.world import World
from heldout.simulate.knobs import NUMERIC

DAY = 86_400_000_000
HISTORY = 14
"""Days of an invented history, about; how busy an estate is is measured per day."""
LEAST_EVENTS, LEAST_LINES = 100, 2_000
"""Fewer say nothing of how busy an estate is; then it is drawn."""
LEAST_DAYS, LEAST_LOGGED = 1.0, 1 / 24
"""Days of changes and of log lines that a rate is told over at least."""


def topology_of(directory: Path, name: str) -> Topology:
    """What of a world can be grafted on: what exists now, connects now and holds now.

    Things that are gone, former values and everything that happened stay behind. A world that was
    altered is a :class:`WorldError`, one without anything in it a :class:`SpecError`.
    """
    verify_world(directory, world_meta(directory).digest)
    world = World(directory)
    graph, now = world.graph, world.now
    here = {one.id: one for one in graph.entities.values() if one.id not in world.gone}
    if not here:
        raise SpecError("the imported world is empty", where=name, mend="Import something into it")
    entities = [
        TopologyEntity(one.id, one.kind, one.name, one.external_id, one.cluster)
        for one in here.values()
    ]
    edges: dict[tuple[str, str, str], TopologyEdge] = {}
    for edge in graph.edges:
        key = (edge.src, edge.pred, edge.dst)
        if edge.holds(now, now) and edge.src in here and edge.dst in here:
            held = edges.get(key)
            if held is None or held.confidence < edge.confidence:
                edges[key] = TopologyEdge(*key, edge.provenance, edge.confidence, edge.source)
    facts = [
        TopologyFact(one, row.field, json.loads(row.value_json), row.provenance, row.confidence,
                     row.source)
        for one in here
        for _, row in sorted(world.facts.at(one, now).items())
    ]  # fmt: skip
    return Topology(tuple(entities), tuple(edges.values()), tuple(facts), name=name)


def busyness(directory: Path) -> Mapping[str, float | int | str]:
    """Knobs for how much happens on an estate: changes of a usual history, log lines of a day.

    Both are told over the time that they were recorded for. Where an import holds too little of
    either, that knob is left out and drawn as ever.
    """
    changes = [row["ts"] for row in read_tables(directory, {"change_event": ("id", "ts")})[
        "change_event"]]  # fmt: skip
    lines = world_meta(directory).counts.get("log", 0)
    logged = World(directory).log_range or (0, 0)
    found: dict[str, float | int | str] = {}
    if len(changes) >= LEAST_EVENTS:
        days = max((max(changes) - min(changes)) / DAY, LEAST_DAYS)
        found["events"] = _within("events", len(changes) / days * HISTORY)
    if lines >= LEAST_LINES:
        days = max((logged[1] - logged[0]) / DAY, LEAST_LOGGED)
        found["log_lines"] = _within("log_lines", lines / days)
    return found


def _within(knob: str, value: float) -> int:
    limits = NUMERIC[knob]
    return int(min(limits.most, max(limits.least, round(value))))
