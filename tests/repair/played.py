"""Episodes of templates by name, and the scripts that play them."""

from __future__ import annotations

from heldout.repair.episode import Episode
from heldout.repair.families import families
from heldout.repair.instance import Instance
from heldout.repair.playing import ask, change, look, repair, report
from heldout.repair.sandbox.runner import Sandbox

__all__ = ["TEMPLATES", "ask", "change", "look", "opened", "repair", "report"]

TEMPLATES = {
    template.name: template for family in families().values() for template in family.templates()
}


def opened(name: str, seed: int = 0, *, healthy: bool = False) -> Episode:
    """An episode of a template; whoever opens it closes it."""
    return Episode(Instance(TEMPLATES[name], seed, healthy), Sandbox())
