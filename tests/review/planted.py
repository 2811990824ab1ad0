"""A proposal with one fault of each kind in it, as its probes would have found them."""

from __future__ import annotations

from tests.review.conftest import BEFORE, EDITS, counts, edit, effect, probes, propose, stored, unit

from heldout.store import Ledger

TOO_FAR = "- The culprit is always several days old, a fresh change is never the cause."
HOLLOW = "- Good engineers stay calm and keep the overall goal in mind."
EMPTY = "- Be thorough, but also be efficient."
TABLE = "- When a shop window pages, the store of data behind it was made smaller."
OPPOSITE = "- Never follow the graph from the failing service to what it depends on."
KINDS = {
    "over-correction": TOO_FAR,
    "padding": HOLLOW,
    "leak in other words": TABLE,
    "contradiction": OPPOSITE,
}


def planted(ledger: Ledger, name: str = "p-planted") -> str:
    """Store it; the edits beside the planted lines are sound."""
    padded = edit(HOLLOW, EMPTY, reason="It reads well.", expected_effect="It works calmly.")
    fourth = edit(
        TABLE, TOO_FAR, OPPOSITE,
        reason="Shop windows failed thrice.", expected_effect="It finds the store at once.",
    )  # fmt: skip
    units = (
        unit(EDITS[0]),
        unit(padded, effect(HOLLOW, "none", 0, 0), effect(EMPTY, "none", 0, 0), needed=0),
        unit(fourth, effect(TABLE, "case_specific", 3, 1), effect(TOO_FAR), effect(OPPOSITE)),
    )
    edits = (EDITS[0], padded, fourth)
    beside = [
        stored(one, behaviour=found.plain(), regression=counts(0, 2 * (one is fourth), 12))
        for one, found in zip(edits, units, strict=True)
    ]
    return propose(
        ledger, edits, name=name, before=BEFORE, beside=beside,
        controls=counts(0, 1, 8), behaviour=probes(*units, rose=9),
    )  # fmt: skip
