"""Imported topologies, kept with the set whose incidents were grafted on them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from heldout.errors import SpecError
from heldout.graph.topology import Topology, TopologyEdge, TopologyEntity, TopologyFact


def topology_path(directory: Path, incident: str) -> Path:
    """Where the set in ``directory`` keeps the topology under one incident."""
    return directory / "topologies" / f"{incident}.json"


def write_topology(topology: Topology, path: Path) -> None:
    """Write a topology as canonical JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(topology), sort_keys=True, separators=(",", ":"), default=dict)
    path.write_text(text + "\n", encoding="utf-8")


def read_topology(path: Path) -> Topology:
    """Read a topology; a malformed one is a :class:`SpecError`."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return Topology(
            entities=tuple(TopologyEntity(**one) for one in raw["entities"]),
            edges=tuple(TopologyEdge(**one) for one in raw["edges"]),
            facts=tuple(TopologyFact(**one) for one in raw["facts"]),
            name=raw["name"],
            meta=raw["meta"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SpecError(
            f"the topology cannot be read ({type(error).__name__})",
            where=str(path),
            mend="Restore it from version control, or import the material again",
        ) from error
