"""Tables of brains by models, as the ledger keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class TransferRow:
    """A table in its newest state; ``result`` is ``None`` while it is not finished."""

    transfer: str
    half: str
    set: str
    brain_hash: str
    asked: Mapping[str, Any]
    result: Mapping[str, Any] | None
    started: int
    ended: int | None


def transfers(ledger: Ledger) -> list[TransferRow]:
    """Every table, newest first."""
    sql = (
        "SELECT * FROM transfers QUALIFY row_number() OVER (PARTITION BY transfer ORDER BY rowid"
        " DESC) = 1 ORDER BY started DESC, rowid DESC"
    )
    return [
        TransferRow(
            transfer=row["transfer"],
            half=row["half"],
            set=row["set"],
            brain_hash=row["brain_hash"],
            asked=json.loads(row["asked_json"]),
            result=None if row["result_json"] is None else json.loads(row["result_json"]),
            started=row["started"],
            ended=row["ended"],
        )
        for row in ledger.read(sql)
    ]
