"""What candidates do to a train half: fixed before any acceptance rule is measured on it.

An incident is its chance to pass. Chances are drawn from a beta distribution around ``PASS_RATE``,
so that repeats of one incident agree with each other (correlation ``rho`` between two repeats) and
are independent given the incident. Which incidents fail, and so which are targeted and which must
stay solved, is itself measured with noise, as in a job: by the majority of ``BASELINE`` repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

INCIDENTS = 60
"""Incidents of the train half."""
PASS_RATE = 0.64
"""Mean chance that an investigation with the brain before passes."""
BASELINE = 3
"""Repeats by which an incident counts as solved or failing."""
CORRELATIONS = (0.0, 0.5, 0.8)
"""Between two repeats of one incident: none (all alike), as usual, nearly settled."""
CLUSTERS = (4, 8, 12)
"""Failing incidents that a candidate is written for (fewer where fewer fail)."""
REGRESSION = 6
"""Incidents of one regression batch, out of those that count as solved."""
FIXED_TO, BROKEN_TO = 0.9, 0.1
"""The chance to pass of an incident that a candidate fixes, and of one that it breaks."""
VALSET = 25
"""Investigations of a full validation pass, for the rule that makes one after accepting."""
DRAWS, SEED = 500, 31607
"""Candidates per cell of the table, and the seed of all: rules are tried out on other seeds."""
TRIED, JOBS = 16, 200
"""Candidates of one job, one after the other on the same half; and jobs per row."""
PASSING, HELD = 0.95, 30
"""Chance to pass of what passed before, and incidents of it, where the net for harm is measured."""
FALLS = (0.0, 0.05, 0.10, 0.15, 0.25)
"""What a candidate takes from each of them, in points of the chance to pass."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One kind of candidate. ``good``: whether it should be accepted.

    ``fixes``: share of its cluster that passes afterwards with ``FIXED_TO``. ``drops``: what every
    incident outside the cluster loses. ``breaks``: share of the incidents outside the cluster that
    pass with ``BROKEN_TO`` afterwards. ``moves``: every incident gets better or worse by this, each
    as likely as the other, so that repeats agree although the mean effect is none. ``redraws``:
    share of all incidents whose chance is drawn anew. Over the half nothing is gained; but what is
    targeted was chosen because it fails, so it gets better, and what passed gets worse.
    """

    name: str
    good: bool
    fixes: float = 0.0
    drops: float = 0.0
    breaks: float = 0.0
    moves: float = 0.0
    redraws: float = 0.0
    weight: float = 0.0
    """Share among the candidates of a job, for the cost of a true accept."""


EFFECTS = (
    Effect("none", False, weight=0.45),
    Effect("none, moved", False, moves=0.15, weight=0.10),
    Effect("none, redrawn", False, redraws=0.25),
    Effect("small", True, fixes=0.15, weight=0.10),
    Effect("medium", True, fixes=0.30, weight=0.10),
    Effect("large", True, fixes=0.80, weight=0.10),
    Effect("mild harm", False, drops=0.15, weight=0.05),
    Effect("harm", False, breaks=0.30, weight=0.04),
    Effect("medium, mild harm", False, fixes=0.30, drops=0.15, weight=0.02),
    Effect("large, mild harm", False, fixes=0.80, drops=0.15, weight=0.02),
    Effect("large, harm", False, fixes=0.80, breaks=0.20, weight=0.02),
)
JOBS_OF = {
    "none": (("none", TRIED),),
    "none, moved": (("none, moved", TRIED),),
    "none, redrawn": (("none, redrawn", TRIED),),
    "one medium": (("medium", 1), ("none", TRIED - 1)),
    "two large, one with mild harm": (("large", 1), ("large, mild harm", 1), ("none", TRIED - 2)),
}
"""Candidates of a job, in an order that is drawn for each."""
FALSE_ACCEPTS = 0.05
"""Goal: at most this share of ``none`` is accepted, with every correlation and cluster; and of the
jobs with ``none`` at most this share ends in a proposal."""
POWER = 0.80
"""Goal: at least this share of ``medium`` is accepted where failing is more than chance
(correlations above zero), over all clusters."""


@dataclass(frozen=True, slots=True)
class Half:
    """One train half with one candidate: chances to pass, and what the job believes of them."""

    before: np.ndarray
    after: np.ndarray
    cluster: np.ndarray
    solved: np.ndarray


def draw(rng: np.random.Generator, effect: Effect, rho: float, cluster: int) -> Half:
    """A train half in which at least one incident fails and one is solved."""
    before, solved = begun(rng, rho)
    target = rng.permutation(np.flatnonzero(~solved))[:cluster]
    after = changed(rng, effect, rho, before, target)
    return Half(before, after, rng.permutation(target), rng.permutation(np.flatnonzero(solved)))


def begun(rng: np.random.Generator, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Chances to pass, and which incidents count as solved: some of them, and not all."""
    while True:
        before = chances(rng, rho)
        solved = counted(rng, before)
        if 0 < solved.sum() < INCIDENTS:
            return before, solved


def counted(rng: np.random.Generator, before: np.ndarray) -> np.ndarray:
    """Which incidents count as solved, by the majority of :data:`BASELINE` repeats."""
    return 2 * rng.binomial(BASELINE, before) > BASELINE


def changed(
    rng: np.random.Generator, effect: Effect, rho: float, before: np.ndarray, target: np.ndarray
) -> np.ndarray:
    """Chances to pass with a candidate that was written for ``target``."""
    outside = np.setdiff1d(np.arange(INCIDENTS), target)
    after = before.copy()
    if effect.moves:
        step = np.minimum(effect.moves, np.minimum(before, 1 - before))
        after += step * rng.choice((-1, 1), INCIDENTS)
    if effect.redraws:
        anew = rng.permutation(INCIDENTS)[: _share(rng, effect.redraws, INCIDENTS)]
        after[anew] = chances(rng, rho)[anew]
    fixed = target[: _share(rng, effect.fixes, len(target))]
    after[fixed] = np.maximum(after[fixed], FIXED_TO)
    after[outside] = np.maximum(0.0, after[outside] - effect.drops)
    broken = rng.permutation(outside)[: _share(rng, effect.breaks, len(outside))]
    after[broken] = np.minimum(after[broken], BROKEN_TO)
    return after


def chances(rng: np.random.Generator, rho: float) -> np.ndarray:
    """What each incident of a half passes with."""
    if rho == 0:
        return np.full(INCIDENTS, PASS_RATE)
    scale = 1 / rho - 1
    return rng.beta(PASS_RATE * scale, (1 - PASS_RATE) * scale, INCIDENTS)


def _share(rng: np.random.Generator, share: float, of: int) -> int:
    whole, rest = divmod(share * of, 1)
    return int(whole) + int(rng.random() < rest)
