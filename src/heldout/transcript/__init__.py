"""One investigation read back for a person, and what of the ledger may be read at all."""

from heldout.transcript.choosing import Found, Wanted, counted, find
from heldout.transcript.opening import held_out, require_open
from heldout.transcript.page import Page, page_width
from heldout.transcript.plain import difference_plain, slot_plain, transcript_plain
from heldout.transcript.side_by_side import side_by_side
from heldout.transcript.text import listing, transcript

__all__ = [
    "Found",
    "Page",
    "Wanted",
    "counted",
    "difference_plain",
    "find",
    "held_out",
    "listing",
    "page_width",
    "require_open",
    "side_by_side",
    "slot_plain",
    "transcript",
    "transcript_plain",
]
