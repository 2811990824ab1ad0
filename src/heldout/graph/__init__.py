"""Worlds: what they may say, how they lie on disk, and how they are asked."""

from heldout.graph.files import (
    WorldMeta,
    read_table,
    read_tables,
    verify_world,
    world_meta,
    write_world,
)
from heldout.graph.health import Finding, check_health
from heldout.graph.packs.choice import PACKS, WorldTools, open_interface
from heldout.graph.session import WorldInterface, WorldSession
from heldout.graph.tools import WorldBackend, tool_specs

__all__ = [
    "PACKS",
    "Finding",
    "WorldBackend",
    "WorldInterface",
    "WorldMeta",
    "WorldSession",
    "WorldTools",
    "check_health",
    "open_interface",
    "read_table",
    "read_tables",
    "tool_specs",
    "verify_world",
    "world_meta",
    "write_world",
]
