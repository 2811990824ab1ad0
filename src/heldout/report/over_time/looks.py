"""The looks at the held-out half that a model had, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.errors import StoreError
from heldout.floors import Floor
from heldout.score import Score, read_score
from heldout.store import Ledger, queries
from heldout.store.queries import Cost, ScoreRow


@dataclass(frozen=True, slots=True)
class Look:
    """One opening of the held-out half; it is counted from its first moment on.

    ``result`` is ``None`` while it has not ended, and where another version wrote it; ``note`` then
    says which. ``started`` is in microseconds since the epoch, UTC.
    """

    id: str
    started: int
    before_hash: str
    after_hash: str
    cost: Cost
    result: Score | None = None
    note: str = ""
    other_incidents: bool = False
    """True when it counted other trap incidents than the finished look before it."""

    @property
    def word(self) -> str:
        """How it ended, with its class of evidence."""
        if self.result is None:
            return self.note
        return f"{self.result.outcome} ({self.result.evidence.model_class})"

    @property
    def floor(self) -> Floor | None:
        """The best rule without a model on the same incidents; ``None`` if none was played."""
        floors = self.result.floors if self.result is not None else ()
        return max(floors, key=lambda one: one.traps_solved, default=None)


def looks_at(ledger: Ledger, model: str) -> tuple[Look, ...]:
    """Every look of a model, oldest first."""
    runs = queries.runs(ledger, purpose="score", model=model)
    of_nonce: dict[str, list[str]] = {}
    for run in runs:
        of_nonce.setdefault(str(run.manifest["pins"].get("nonce", "")), []).append(run.run)
    found: list[Look] = []
    traps: object = None
    for row in reversed(queries.scores(ledger, model=model)):
        pins = (row.endpoint or {}).get("pins", {})
        look = _look(row, _cost(ledger, of_nonce.get(str(pins.get("nonce", "")) or "-", [])))
        if look.result is not None:
            mine = (row.endpoint or {}).get("traps")
            look = replace(look, other_incidents=traps is not None and mine != traps)
            traps = mine
        found.append(look)
    return tuple(found)


def _cost(ledger: Ledger, runs: list[str]) -> Cost:
    total = Cost(0, 0, 0, 0, 0, 0.0, 0.0)
    for run in runs:
        total += queries.cost(ledger, run=run)
    return total


def _look(row: ScoreRow, cost: Cost) -> Look:
    bare = Look(row.score, row.started, row.before_hash or "", row.after_hash or "", cost)
    if row.result is None:
        return replace(bare, note="begun and not ended")
    try:
        return replace(bare, result=read_score(row.result, where=f"score {row.score}"))
    except StoreError:
        # An older layout: the word still stands, its figures cannot be trusted to mean the same.
        return replace(bare, note=f"{row.outcome or 'ended'}, written by another version")
