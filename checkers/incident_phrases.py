"""Sentences copied from truths, alerts, change titles and judge reasoning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import bait as planted
from heldout.gate import phrases
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = phrases.RULE


def check(context: Context) -> Iterable[Hit]:
    """Every run of content words."""
    return phrases.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    words = planted.SENTENCE.split()
    return (
        f"- Note that {' '.join(words[1:7])}.",
        f"- Note that {' '.join(words[1:4])}\n  {' '.join(words[4:7])}.",
        f"- Note: {planted.ALERT.lower()}.",
        f"- Note: {planted.TITLE}.",
    )
