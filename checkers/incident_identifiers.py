"""Names of services, people, repositories, keys of any incident, in any case and spacing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import bait as planted
from heldout.gate import identifiers
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = identifiers.RULE


def check(context: Context) -> Iterable[Hit]:
    """Every name as written."""
    return identifiers.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """The planted names in many forms, and a few names of real incidents."""
    real = [*planted.real_names(inventory, "T1"), *planted.real_names(inventory, "T2")]
    rare, pair = planted.RARE, planted.PAIR
    return (
        f"- Look at {rare} first.",
        f"- Look at {rare.upper().replace('-', '_')} first.",
        f"- Look at {rare.split('-')[0]} first.",
        f"- Look at {rare[:5]}\u200b{rare[5:]} first.",
        f"- Look at {rare.split('-')[0]}-\n  {rare.split('-')[1]} first.",
        f"- Look at {pair} first.",
        f"- Look at the `{planted.PLAIN}` pods first.",
        f"- Look at `{planted.KEY}` first.",
        f"- Look at {planted.CANARY} first.",
        *(f"- Look at `{name.surface}` first." for name in real),
    )
