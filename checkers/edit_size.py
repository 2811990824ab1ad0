"""How much an edit adds, how long its lines are, and how much of it is digits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import form
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = form.SIZE


def check(context: Context) -> Iterable[Hit]:
    """What the edit adds."""
    return form.check_size(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    return (
        f"- Look at {'one thing and then at ' * 60} the next.",
        "\n".join(f"- Padding of kind {chr(97 + n // 26)}{chr(97 + n % 26)}." for n in range(80)),
        "- Try 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99.",
    )
