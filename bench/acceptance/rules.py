"""The rules that are measured, each as: one candidate in, a ruling and its investigations out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.acceptance.effects import DRAWS, FALLS, HELD, PASSING, SEED, VALSET, Half
from heldout.stats import Interval, wilson
from heldout.tune import TuneOptions
from heldout.tune.acceptance import Batch, Pairs, Purchase, Question


@dataclass(frozen=True, slots=True)
class Ruled:
    """What became of one candidate, and the investigations that it cost."""

    accepted: bool
    cost: int


Rule = Callable[[np.random.Generator, Half], Ruled]
SUM_BATCH = 3
"""Incidents of the strict sum rule."""


def rules() -> dict[str, Rule]:
    """Every rule by its name in the table."""
    ours = TuneOptions().rule()
    looks = TuneOptions(acceptance="looks").rule()
    return {
        "evidence": partial(screened, ours.target, ours.guard),
        "looks": partial(screened, looks.target, looks.guard),
        "strict sum, 3 of train": partial(_summed, False),
        "strict sum, 3 of the cluster": partial(_summed, True),
    }


def screened(target: Question, guard: Question, rng: np.random.Generator, half: Half) -> Ruled:
    """A candidate on its cluster, and if it convinces there on what passed."""
    fixed = tested(target, rng, half, half.cluster, 0)
    if not fixed.accepted:
        return fixed
    held = tested(guard, rng, half, half.solved, 0)
    return Ruled(held.accepted, fixed.cost + held.cost)


def tested(
    test: Question,
    rng: np.random.Generator,
    half: Half,
    chosen: np.ndarray,
    first: int,
) -> Ruled:
    """One batch to its decision, as a job plays it; ``first``: repeats that all got already."""
    batch = Batch(tuple(str(incident) for incident in chosen))
    ruling = "indecisive"
    if first:
        purchase = Purchase(batch.incidents, first)
        batch.add(purchase, _played(rng, half, purchase))
        ruling = test.judge(batch).ruling
    while ruling == "indecisive" and (wanted := test.buy(batch)):
        batch.add(wanted, _played(rng, half, wanted))
        ruling = test.judge(batch).ruling
    return Ruled(ruling == "accept", batch.spent)


def net(guard: Question, fall: float, draws: int = DRAWS) -> tuple[Interval, float]:
    """How often a fall of what passed is let through, and the investigations that it costs."""
    rng, held = np.random.default_rng(SEED), np.arange(HELD)
    half = Half(np.full(HELD, PASSING), np.full(HELD, PASSING - fall), held[:0], held)
    ruled = [tested(guard, rng, half, rng.permutation(held), 0) for _ in range(draws)]
    let = wilson(sum(one.accepted for one in ruled), draws)
    return let, sum(one.cost for one in ruled) / draws


def nets(draws: int = DRAWS) -> list[tuple[str, list[tuple[Interval, float]]]]:
    """Every question about what passed on every fall of it."""
    options = TuneOptions()
    asked = {
        "evidence, one edit": options.rule().guard,
        "evidence, all of a job": options.confirmation(0, HELD).guard,
        "looks, one edit": TuneOptions(acceptance="looks").rule().guard,
    }
    return [(name, [net(guard, fall, draws) for fall in FALLS]) for name, guard in asked.items()]


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
