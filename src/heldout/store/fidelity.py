"""Comparisons of production with the simulation, as the ledger keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.store.ledger import Ledger, now_us


@dataclass(frozen=True, slots=True)
class FidelityRow:
    """One comparison; ``result`` is what ``heldout fidelity --json`` printed."""

    fidelity: str
    file_digest: str
    model: str
    result: Mapping[str, Any]
    at: int


def record_fidelity(ledger: Ledger, result: Mapping[str, Any]) -> None:
    """Hand over one comparison."""
    ledger.append(
        "fidelities",
        [
            {
                "fidelity": result["fidelity"], "file_digest": result["file_digest"],
                "model": result["model"], "result_json": dict(result), "at": now_us(),
            }
        ],
    )  # fmt: skip


def fidelities(ledger: Ledger, *, model: str | None = None) -> list[FidelityRow]:
    """Every comparison, or those of one model; the newest first."""
    rows = ledger.read(
        "SELECT * FROM fidelities WHERE (? IS NULL OR model = ?) ORDER BY rowid DESC",
        [model, model],
    )
    return [
        FidelityRow(
            row["fidelity"], row["file_digest"], row["model"], json.loads(row["result_json"]),
            row["at"],
        )
        for row in rows
    ]  # fmt: skip
