"""Names by their initials, in halves on lines apart, or as a glob or regular expression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import bait as planted
from heldout.gate import pieces
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = pieces.RULE


def check(context: Context) -> Iterable[Hit]:
    """Everything that a reader could put together again."""
    return pieces.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    first, second = planted.RARE.split("-")
    one, two = planted.PAIR.split("-")
    return (
        f"- Begin with the {first[0].upper()}{second[0].upper()} service.",
        f"- Note {first[:5]} for later.\n- Put it before {first[5:]}.",
        f"- Keep {one} in mind.\n- After it comes {two}.",
        f"- Search for `{one}[-_].*` first.",
    )
