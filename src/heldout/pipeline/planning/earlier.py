"""Tuning jobs that the ledger knows: what they were asked for and how large they became."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from heldout.store import Ledger
from heldout.store.queries import cost, jobs
from heldout.store.spending import proposing

KIND = "tune"
NEWEST = 5
"""Ended jobs whose size counts: how a model fails changes with its brain."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A job as it was asked for."""

    job: str
    model: str
    set: str
    proposer: str
    repeats: int
    strategy: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """Means over ended jobs of one model on one set, a job each.

    ``train`` is in baselines: measuring every train incident once with all repeats is 1.
    """

    jobs: int
    rounds: float
    train: float
    screen: float
    confirm: float
    probe: float
    proposer_calls: float


def begun_jobs(ledger: Ledger) -> tuple[Begun, ...]:
    """Every tuning job that was begun, newest first."""
    rows = ledger.read(
        'SELECT job, model, "set", detail_json FROM jobs'
        " WHERE kind = ? AND status = 'started' ORDER BY rowid DESC",
        [KIND],
    )
    found = []
    for row in rows:
        detail = json.loads(row["detail_json"] or "{}")
        options = detail.get("options") or {}
        found.append(
            Begun(
                row["job"], row["model"] or "", row["set"] or "", str(detail.get("proposer", "")),
                int(options.get("repeats", 1)), str(options.get("strategy", "")),
            )
        )  # fmt: skip
    return tuple(found)


def sizes(ledger: Ledger, model: str, set_name: str, strategy: str) -> Sizes | None:
    """How large the newest ended jobs were; ``None`` without one of this model, set and strategy.

    One that a leak aborted broke off early and says nothing.
    """
    ended = {
        row.job: row.detail
        for row in jobs(ledger, kind=KIND, model=model)
        if not row.unfinished and row.status != "aborted" and (row.detail or {}).get("train")
    }
    mine = [
        one
        for one in begun_jobs(ledger)
        if (one.model, one.set, one.strategy) == (model, set_name, strategy) and one.job in ended
    ][:NEWEST]
    if not mine:
        return None
    each = [_size(ledger, one, int(ended[one.job]["train"][1])) for one in mine]
    rounds = [float(ended[one.job].get("rounds", 0)) for one in mine]
    means = [fmean(column) for column in zip(*each, strict=True)]
    return Sizes(len(mine), fmean(rounds), *means)


def _size(ledger: Ledger, begun: Begun, incidents: int) -> Sequence[float]:
    played = {
        purpose: cost(ledger, job=begun.job, purpose=purpose).investigations
        for purpose in ("train", "screen", "confirm", "probe")
    }
    baseline = max(1, incidents * begun.repeats)
    calls = proposing(ledger, job=begun.job).calls
    return (
        played["train"] / baseline, played["screen"], played["confirm"], played["probe"], calls
    )  # fmt: skip
