"""Worlds: what they may say, how they lie on disk, and how they are asked."""

from heldout.graph.files import WorldMeta, read_table, verify_world, world_meta, write_world

__all__ = ["WorldMeta", "read_table", "verify_world", "world_meta", "write_world"]
