"""What of a stored run may be read: the held-out half only after its score has ended."""

from __future__ import annotations

from collections.abc import Collection

from heldout.errors import SplitViolation
from heldout.store import Ledger, queries
from heldout.store.queries import RunRow


def held_out(row: RunRow) -> frozenset[str]:
    """The incidents of a run that stand on the held-out side; what does not say is held out."""
    return frozenset(
        str(case["incident"]) for case in row.cases if case.get("side", "test") != "train"
    )


def score_ended(ledger: Ledger, run: str) -> bool:
    """True when the score that a run was played for has ended, whatever its outcome."""
    return any(
        row.ended is not None
        and row.outcome is not None
        and run in {row.run, *((row.result or {}).get("runs") or ())}
        for row in queries.scores(ledger)
    )


def require_open(ledger: Ledger, row: RunRow, incidents: Collection[str] | None = None) -> None:
    """Raise :class:`SplitViolation` while what is asked for must stay closed.

    ``incidents`` are those that are read, all of the run's when left out. What was found there,
    and every word of a verdict on it, would tell about the held-out half before it is scored.
    """
    closed = held_out(row)
    asked = closed if incidents is None else closed & set(incidents)
    if asked and not score_ended(ledger, row.run):
        raise SplitViolation(
            "this run holds incidents of the held-out half and its score has not ended",
            where=f"run {row.run}",
            mend="Look at it when the score has ended; a run over train is open at any time",
        )
