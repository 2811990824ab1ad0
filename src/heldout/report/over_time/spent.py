"""What a model's tuning and scoring cost so far, by what it was for."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.store import Ledger
from heldout.store.queries import Cost, cost
from heldout.store.spending import proposing, spending

NAMES = {
    "train": "measuring train",
    "screen": "screening edits",
    "confirm": "confirming on fresh repeats",
    "probe": "probing proposals",
    "score": "scoring the held-out half",
    "canary": "watching the provider",
}


@dataclass(frozen=True, slots=True)
class Spent:
    """One row of the bill; ``cost.total_usd`` is ``None`` where a price is unknown."""

    name: str
    cost: Cost


def spent_on(ledger: Ledger, model: str) -> tuple[Spent, ...]:
    """The bill of one model with its sum; empty where nothing was played."""
    played = ledger.read(
        "SELECT purpose FROM runs WHERE model = ? GROUP BY purpose ORDER BY min(rowid)", [model]
    )
    rows = [
        Spent(NAMES.get(purpose, purpose), cost(ledger, model=model, purpose=purpose))
        for purpose in (str(row["purpose"]) for row in played)
    ]
    reading = proposing(ledger, model=model)
    if reading.calls:
        rows.append(Spent("reading failures and writing edits", reading))
    if not rows:
        return ()
    return (*rows, Spent("together", spending(ledger, model=model)))
