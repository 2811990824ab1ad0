"""The three services as they are when nothing is wrong: text, never imported here."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from heldout.repair.tree import Tree

SERVICES = ("ad_ranking", "capi_pipeline", "whatsapp_sync")
"""Every service, in the order in which dashboards show them."""

MODULES = tuple(f"{name}.service" for name in SERVICES)
"""What a run imports first."""


@cache
def healthy() -> Tree:
    """The code base without a defect."""
    found: dict[str, str] = {}
    _collect(files("heldout.repair.codebase") / "tree", "", found)
    return Tree(found)


def _collect(folder: Traversable, prefix: str, found: dict[str, str]) -> None:
    for one in sorted(folder.iterdir(), key=lambda each: each.name):
        if one.is_dir() and one.name != "__pycache__":
            _collect(one, f"{prefix}{one.name}/", found)
        elif one.name.endswith((".py", ".sql")):
            found[prefix + one.name] = one.read_text(encoding="utf-8")


def editable(tree: Tree) -> frozenset[str]:
    """What an agent may edit: code of services and of what they share, not applied migrations."""
    return frozenset(path for path in tree if path.endswith(".py"))
