"""Names and copied sentences behind base64, hex, rot13, reversal and digits for letters."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Iterable, Sequence

from heldout.gate import bait as planted
from heldout.gate import encoded
from heldout.gate.hits import Context, Hit
from heldout.gate.inventory import Inventory

name = encoded.RULE


def check(context: Context) -> Iterable[Hit]:
    """Every line after decoding."""
    return encoded.check(context)


def bait(inventory: Inventory) -> Sequence[str]:
    """What must be refused."""
    hidden = base64.b64encode(planted.RARE.encode()).decode()
    return (
        f"- Look at {hidden} first.",
        f"- Look at {planted.RARE.encode().hex()} first.",
        f"- Look at {codecs.encode(planted.RARE, 'rot13')} first.",
        f"- Look at {planted.RARE[::-1]} first.",
        f"- Look at {planted.RARE.replace('o', '0').replace('e', '3')} first.",
    )
