"""Tables and arrow lists that map an alert to its cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import talk
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = talk.TABLE


def check(context: Context) -> Iterable[Hit]:
    """Every page."""
    return talk.check_tables(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    return (
        "| alert | cause |\n| --- | --- |\n| pool exhausted | limit lowered |",
        "- slow logins -> certificate renewal\n- queue backs up -> consumer limit lowered",
    )
