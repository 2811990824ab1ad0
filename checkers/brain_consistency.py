"""Lines that repeat each other in other words, or say the opposite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import consistency
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = consistency.RULE


def check(context: Context) -> Iterable[Hit]:
    """Every pair of lines."""
    return consistency.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    return (
        "- Before you settle on one at onset, search back at least 14 days for changes.",
        "- Never search changes at least 14 days back before you settle on one at onset.",
        "- Search changes at least 30 days back before you settle on one at onset.",
    )
