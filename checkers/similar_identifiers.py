"""Names with typos, cut short, without vowels, in another order or in two halves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import bait as planted
from heldout.gate import similar
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = similar.RULE


def check(context: Context) -> Iterable[Hit]:
    """Everything that comes close to a name."""
    return similar.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    first, second = planted.RARE.split("-")
    return (
        f"- Look at {first[:4]}{first[5:]}-{second} first.",
        f"- Look at {planted.RARE[:16]} first.",
        f"- Look at {second}-{first[:-1]}i first.",
        f"- Its name begins with '{first}' and ends in '{second[4:]}'.",
    )
