"""Talk about how the brain is measured, or about one incident that was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import talk
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = talk.TALK


def check(context: Context) -> Iterable[Hit]:
    """Every line."""
    return talk.check_talk(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    return (
        "- This came up in the train split.",
        "- The held-out half has more of these.",
        "- The judge wants the change id.",
        "- As in the third incident, look further back.",
    )
