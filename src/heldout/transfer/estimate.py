"""What a table costs, said before any of it is spent."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.brain import load_brain
from heldout.llm.names import ModelName
from heldout.settings import Settings
from heldout.split import read_split
from heldout.stats import DetectableGain, minimum_detectable_gain
from heldout.store import Ledger, queries
from heldout.transfer.job import Asked
from heldout.transfer.lineup import line_up


@dataclass(frozen=True, slots=True)
class ColumnEstimate:
    """One model's part. ``tokens`` and ``usd`` are ``None`` where nothing is known to go by.

    ``usd`` is what its earlier investigations cost on average, times the new ones; ``opened`` is
    how often the most opened held-out incident was opened for it.
    """

    model: str
    investigations: int
    tokens: int | None
    usd: float | None
    opened: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A table's cost and what it can show; ``traps`` is ``None`` while no score has said it."""

    half: str
    set: str
    incidents: int
    owners: tuple[str, ...]
    repeats: int
    look_budget: int
    columns: tuple[ColumnEstimate, ...]
    traps: int | None
    max_tokens: int

    @property
    def detectable(self) -> DetectableGain:
        """What one cell can show at p < 0.05 over all tuned cells of the table."""
        alpha = 0.05 / (len(self.owners) * len(self.columns))
        return minimum_detectable_gain(self.traps or self.incidents, alpha=float(f"{alpha:.2g}"))


def estimate(settings: Settings, ledger: Ledger | None, asked: Asked) -> Estimate:
    """Count what would be played; nothing is opened, played or written."""
    settings = asked.settings(settings)
    lineup = line_up(load_brain(settings.brain), asked.models, asked.owners)
    split = read_split(settings.set_dir())
    incidents = split.test if asked.half == "test" else split.train
    each = len(incidents) * (1 + len(lineup.owners)) * settings.score.repeats
    return Estimate(
        half=asked.half,
        set=settings.set,
        incidents=len(incidents),
        owners=lineup.owners,
        repeats=settings.score.repeats,
        look_budget=settings.score.looks,
        columns=tuple(_column(ledger, model, each, incidents) for model in lineup.models),
        traps=_traps(settings, ledger, asked.half),
        max_tokens=settings.limits.max_tokens,
    )


def _column(
    ledger: Ledger | None, model: str, each: int, incidents: tuple[str, ...]
) -> ColumnEstimate:
    opened = queries.looks(ledger, model) if ledger else {}
    spent = queries.cost(ledger, model=model) if ledger else None
    tokens = usd = None
    if spent is not None and spent.investigations:
        share = each / spent.investigations
        tokens = round(spent.total_tokens * share)
        usd = None if spent.total_usd is None else spent.total_usd * share
    if ModelName.parse(model).is_simulated:
        usd = 0.0
    used = max((opened.get(name, 0) for name in incidents), default=0)
    return ColumnEstimate(model, each, tokens, usd, used)


def _traps(settings: Settings, ledger: Ledger | None, half: str) -> int | None:
    """How many incidents are traps: of train from the specs, of the other half from a score."""
    if half == "train":
        from heldout.split import read_specs

        return sum(spec.kind == "trap" for spec in read_specs(settings.set_dir(), "train"))
    if ledger is None:
        return None
    known = [row for row in queries.scores(ledger) if row.set == settings.set and row.endpoint]
    return len(known[0].endpoint["traps"]) if known else None
