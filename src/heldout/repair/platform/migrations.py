"""Migrations of a tree: applied in order, taken back one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from heldout.errors import EditError
from heldout.repair.platform.database import Database
from heldout.repair.tree import Tree

_NAME = re.compile(r"migrations/((\d{4})_[a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: its ``name`` starts with its number."""

    name: str
    up: str
    down: str


def migrations(tree: Tree) -> tuple[Migration, ...]:
    """Every migration of a tree, by number."""
    found = []
    for path, text in tree.files.items():
        named = _NAME.fullmatch(path)
        if named:
            up, _, down = text.partition("-- down")
            found.append(Migration(named[1], up.replace("-- up", ""), down))
    return tuple(sorted(found, key=lambda one: one.name))


def apply(database: Database, steps: Iterable[Migration]) -> None:
    """Apply migrations to a database, in order."""
    for step in steps:
        database.script(step.up)


def roll_back(database: Database, applied: tuple[str, ...], name: str, tree: Tree) -> None:
    """Take back the newest migration; any other is refused, since later ones stand on it."""
    known = {step.name: step for step in migrations(tree)}
    if name not in known or name not in applied:
        listed = ", ".join(applied[-3:])
        raise EditError(f"'{name[:80]}' is not applied", mend=f"The newest are: {listed}")
    if applied[-1] != name:
        raise EditError(
            f"'{name}' is not the newest migration", mend=f"Take back '{applied[-1]}' first"
        )
    database.script(known[name].down)
