"""A transcript as plain data, for tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from heldout.store.queries import InvestigationRow
from heldout.transcript.choosing import Found
from heldout.transcript.events import events
from heldout.transcript.side_by_side import difference, require_same_world

_FIGURES = (
    "model", "served_model", "brain", "seed", "reason", "detail", "stop_reason", "calls", "steps",
    "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "usd", "seconds",
    "started", "ended",
)  # fmt: skip


def transcript_plain(found: Found) -> dict[str, Any]:
    """Everything of one investigation. Times are microseconds, ``usd`` null where unknown."""
    trace = found.trace
    return {
        "run": found.run.run,
        "purpose": found.run.purpose,
        "set": found.run.set,
        "side": "test" if found.is_held_out else "train",
        **slot_plain(found.row),
        "alert": str(found.case.get("alert", "")),
        **{name: getattr(found.row, name) for name in _FIGURES},
        "events": [
            {
                "kind": event.kind,
                "text": event.text,
                "asked": event.asked,
                "step": asdict(event.step) if event.step else None,
            }
            for event in (events(trace) if trace else ())
        ],
        "submission": trace.submission.as_dict() if trace else None,
        "verdicts": [asdict(verdict) for verdict in found.row.verdicts],
        "earlier": [
            {"attempt": one.attempt, "reason": one.reason, "detail": one.detail}
            for one in found.earlier
        ],
        "repeats": [slot_plain(one) for one in found.repeats],
    }


def slot_plain(row: InvestigationRow) -> dict[str, Any]:
    """Which investigation this is, with the verdict that counts in the run."""
    return {
        "incident": row.incident,
        "arm": row.arm,
        "repeat": row.repeat,
        "attempt": row.attempt,
        "result": row.verdicts[0].result if row.verdicts else None,
    }


def difference_plain(one: Found, two: Found) -> Mapping[str, Any]:
    """Two investigations and the index of their first different call, null where none differs."""
    require_same_world(one, two)
    return {
        "first_difference": difference(one, two),
        "investigations": [transcript_plain(one), transcript_plain(two)],
    }
