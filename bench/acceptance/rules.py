"""The rules that are measured, each as: one candidate in, a ruling and its investigations out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.acceptance.effects import VALSET, Half
from heldout.tune import TuneOptions
from heldout.tune.acceptance import Batch, Pairs, Purchase, Question


@dataclass(frozen=True, slots=True)
class Ruled:
    """What became of one candidate, and the investigations that it cost."""

    accepted: bool
    cost: int


Rule = Callable[[np.random.Generator, Half], Ruled]
PATIENT = 480
"""A cap twice the default, for those who can pay for small effects in noise."""
SUM_BATCH = 3
"""Incidents of the strict sum rule."""


def rules() -> dict[str, Rule]:
    """Every rule by its name in the table."""
    ours, patient = TuneOptions().rule(), TuneOptions(max_screen=PATIENT).rule()
    looks = TuneOptions(acceptance="looks").rule()
    return {
        "evidence": partial(_tested, ours.target, ours.guard),
        f"evidence, cap {PATIENT}": partial(_tested, patient.target, patient.guard),
        "looks": partial(_tested, looks.target, looks.guard),
        "strict sum, 3 of train": partial(_summed, False),
        "strict sum, 3 of the cluster": partial(_summed, True),
    }


def _tested(target: Question, guard: Question, rng: np.random.Generator, half: Half) -> Ruled:
    fixed = tested(target, rng, half, half.cluster)
    if not fixed.accepted:
        return fixed
    held = tested(guard, rng, half, half.solved)
    return Ruled(held.accepted, fixed.cost + held.cost)


def tested(test: Question, rng: np.random.Generator, half: Half, chosen: np.ndarray) -> Ruled:
    """One batch to its decision, as a job plays it."""
    batch = Batch(tuple(str(incident) for incident in chosen))
    while purchase := test.buy(batch):
        batch.add(purchase, _played(rng, half, purchase))
        ruling = test.judge(batch).ruling
        if ruling != "indecisive":
            return Ruled(ruling == "accept", batch.spent)
    return Ruled(False, batch.spent)


def _played(rng: np.random.Generator, half: Half, purchase: Purchase) -> Pairs:
    pairs = {}
    for incident in purchase.incidents:
        draws = rng.random((purchase.repeats, 2))
        before, after = half.before[int(incident)], half.after[int(incident)]
        pairs[incident] = tuple((bool(one < before), bool(two < after)) for one, two in draws)
    return pairs


def _summed(told: bool, rng: np.random.Generator, half: Half) -> Ruled:
    """Accept where the sum over a minibatch strictly improves, then pay a full validation pass."""
    pool = half.cluster if told else np.arange(len(half.before))
    chosen = rng.permutation(pool)[:SUM_BATCH]
    before = (rng.random(len(chosen)) < half.before[chosen]).sum()
    after = (rng.random(len(chosen)) < half.after[chosen]).sum()
    accepted = bool(after > before)
    return Ruled(accepted, 2 * len(chosen) + (VALSET if accepted else 0))
