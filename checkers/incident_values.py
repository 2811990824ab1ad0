"""Old and new values of a culprit, in any unit or in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import quantities
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = quantities.RULE


def check(context: Context) -> Iterable[Hit]:
    """Every quantity."""
    return quantities.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    return (
        "- Set it to 437s.",
        "- Set it to 437,000 ms.",
        "- Set it to four hundred thirty-seven seconds.",
        "- Compare with 2371.",
    )
