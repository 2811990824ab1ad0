"""Ids, addresses, hosts, dates, clock times, tickets: refused on sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import shapes
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = shapes.RULE


def check(context: Context) -> Iterable[Hit]:
    """Every shape."""
    return shapes.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    return (
        "- Look at vpc-0a1b2c3d4e5f60718 first.",
        "- Look at c-12ab34cd first.",
        "- Look at 10.42.7.19 first.",
        "- Look at commit 9fceb02d0ae598 first.",
        "- It began on 2026-03-04 at 14:05.",
        "- See PR #4711 and OPS-4711.",
    )
