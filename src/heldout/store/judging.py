"""What the ledger says of judges: how they did on labelled answers, and further opinions."""

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


def further_opinions(ledger: Ledger, run: str) -> tuple[int, int]:
    """How many of a run's attempts have more than one verdict, and whose newest differs."""
    sql = (
        "SELECT count(*) AS further, count_if(first <> newest) AS differing FROM"
        " (SELECT arg_min(result, rowid) AS first, arg_max(result, rowid) AS newest"
        " FROM verdicts WHERE run = ? GROUP BY incident, arm, repeat, attempt HAVING count(*) > 1)"
    )
    row = ledger.read(sql, [run])[0]
    return int(row["further"]), int(row["differing"] or 0)
