"""What a world holds, to tell what an answer invented; nothing is known of one that is gone."""

from __future__ import annotations

from pathlib import Path


def known_entities(world: Path) -> frozenset[str] | None:
    """Ids and names of a world's entities; ``None`` where the world is not on disk."""
    return _known(world, "entity", ("id", "name"))


def known_changes(world: Path) -> frozenset[str] | None:
    """Ids of a world's changes; ``None`` where the world is not on disk."""
    return _known(world, "change_event", ("id",))


def _known(world: Path, table: str, keys: tuple[str, ...]) -> frozenset[str] | None:
    from heldout.graph import read_table

    if not (world / "manifest.json").is_file():
        return None
    return frozenset(str(row[key]) for row in read_table(world, table) for key in keys)
