"""Plain text, skills with front matter, nothing said twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import form
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = form.FORMAT


def check(context: Context) -> Iterable[Hit]:
    """Every page."""
    return form.check_format(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    line = "- Search changes at least 14 days back before you settle on one at onset."
    return (line, "- A bell \x07 rings.")
