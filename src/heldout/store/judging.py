"""What the ledger says of judges: how they did on labelled answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from heldout.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """One judge on one set of labelled answers, bound to both by hash. ``at``: microseconds UTC."""

    judge: str
    models: tuple[str, ...]
    judge_hash: str
    labels: str
    labels_hash: str
    result: dict[str, Any]
    at: int


def calibrations(ledger: Ledger) -> list[CalibrationRow]:
    """Every calibration, newest first."""
    return [
        CalibrationRow(
            judge=row["judge"],
            models=tuple(json.loads(row["models_json"])),
            judge_hash=row["judge_hash"],
            labels=row["labels"],
            labels_hash=row["labels_hash"],
            result=json.loads(row["result_json"]),
            at=row["at"],
        )
        for row in ledger.read("SELECT * FROM calibrations ORDER BY rowid DESC")
    ]


def remember_calibration(ledger: Ledger, row: CalibrationRow) -> None:
    """Keep one calibration."""
    ledger.append(
        "calibrations",
        [
            {
                "judge": row.judge,
                "models_json": list(row.models),
                "judge_hash": row.judge_hash,
                "labels": row.labels,
                "labels_hash": row.labels_hash,
                "result_json": row.result,
                "at": row.at,
            }
        ],
    )
    ledger.flush()
