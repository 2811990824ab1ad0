"""One investigation read back for a person, and what of the ledger may be read at all."""

from heldout.transcript.choosing import Found, Wanted, counted, find
from heldout.transcript.events import Event, error_of, events, parsed, rows_of
from heldout.transcript.opening import held_out, require_open
from heldout.transcript.page import Page, page_width
from heldout.transcript.plain import difference_plain, slot_plain, transcript_plain
from heldout.transcript.side_by_side import side_by_side
from heldout.transcript.text import listing, transcript

__all__ = [
    "Event",
    "Found",
    "Page",
    "Wanted",
    "counted",
    "difference_plain",
    "error_of",
    "events",
    "find",
    "held_out",
    "listing",
    "page_width",
    "parsed",
    "require_open",
    "rows_of",
    "side_by_side",
    "slot_plain",
    "transcript",
    "transcript_plain",
]
