"""Steps of drafts, as the ledger keeps them: a report's digest, never its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.store.ledger import Ledger, now_us


@dataclass(frozen=True, slots=True)
class IntakeRow:
    """One step: a report was read by a model, or somebody accepted or dropped its draft."""

    draft: str
    report_digest: str
    action: str
    set: str
    side: str
    incidents: int
    model: str
    spent: Mapping[str, Any] | None
    name: str
    at: int


def record_step(
    ledger: Ledger,
    action: str,
    digest: str,
    *,
    draft: str = "",
    set_name: str = "",
    side: str = "",
    incidents: int = 0,
    model: str = "",
    spent: Mapping[str, Any] | None = None,
    name: str = "",
) -> None:
    """Hand over one step of a draft."""
    ledger.append(
        "intake_events",
        [
            {
                "draft": draft, "report_digest": digest, "action": action, "set": set_name,
                "side": side, "incidents": incidents, "model": model or None,
                "spent_json": spent, "name": name or None, "at": now_us(),
            }
        ],
    )  # fmt: skip


def intake_steps(ledger: Ledger) -> list[IntakeRow]:
    """Every step, the newest first."""
    return [
        IntakeRow(
            draft=row["draft"] or "",
            report_digest=row["report_digest"],
            action=row["action"],
            set=row["set"] or "",
            side=row["side"] or "",
            incidents=row["incidents"] or 0,
            model=row["model"] or "",
            spent=None if row["spent_json"] is None else json.loads(row["spent_json"]),
            name=row["name"] or "",
            at=row["at"],
        )
        for row in ledger.read("SELECT * FROM intake_events ORDER BY rowid DESC")
    ]
