"""Files and skills as they should be, plain text, tools that exist, no line twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heldout.gate import form
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = form.FORMAT


def check(context: Context) -> Iterable[Hit]:
    """Every page."""
    return form.check_format(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    line = "- Search changes at least 14 days back before you settle on one at onset."
    return (
        line,
        "- A bell \x07 rings.",
        "- Call list_change first.",
        "- Use get_audit_trail on each candidate.",
        "- Read it with the `object_timeline` tool.",
    )
