"""Whole jobs: sixteen candidates one after the other on one half, and what is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.acceptance.effects import (
    BASELINE,
    CLUSTERS,
    EFFECTS,
    INCIDENTS,
    JOBS_OF,
    SEED,
    VALSET,
    Effect,
    Half,
    begun,
    changed,
    counted,
)
from bench.acceptance.rules import SUM_BATCH, screened, tested
from heldout.stats import Interval, wilson
from heldout.tune import TuneOptions


@dataclass(frozen=True, slots=True)
class Ended:
    """How one job ended. ``gain``: of the mean chance to pass over the half, if it proposed."""

    proposed: bool
    gain: float
    cost: int


@dataclass(frozen=True, slots=True)
class JobCell:
    """One way of running a job, on one kind of candidates and one correlation."""

    way: str
    kind: str
    rho: float
    ended: tuple[Ended, ...]

    @property
    def share(self) -> Interval:
        """Jobs that end in a proposal."""
        return wilson(sum(one.proposed for one in self.ended), len(self.ended))

    @property
    def worse(self) -> Interval:
        """Jobs that propose what makes the half worse by more than a point."""
        return wilson(sum(one.proposed and one.gain < -0.01 for one in self.ended), len(self.ended))

    @property
    def gain(self) -> float:
        """Mean gain of what was proposed, as a fraction; NaN if nothing was."""
        gains = [one.gain for one in self.ended if one.proposed]
        return float(np.mean(gains)) if gains else float("nan")

    @property
    def cost(self) -> float:
        """Investigations of a job, the first measurement included."""
        return float(np.mean([one.cost for one in self.ended]))

    def line(self) -> str:
        """For the terminal."""
        return (
            f"{self.rho:.1f}  {self.kind:30} {self.way:23} proposed {self.share.value:.3f}"
            f"  worse {self.worse.value:.3f}  gain {self.gain:+.3f}  {self.cost:5.0f} investigated"
        )


@dataclass(frozen=True, slots=True)
class Played:
    """The rounds of a job: what edits were written for, what passed at the baseline, the cost."""

    half: Half
    aimed: np.ndarray
    held: np.ndarray
    cost: int

    @property
    def gain(self) -> float:
        """What the accepted edits are worth over the half."""
        return float((self.half.after - self.half.before).mean())


CONFIRMED, NETTED, SUMMED = "evidence, confirmed", "evidence, net fix", "strict sum, best of val"


def measured_jobs(jobs: int, rho: float) -> Iterator[JobCell]:
    """Every way on every kind of job; the two by evidence share their rounds."""
    named = {effect.name: effect for effect in EFFECTS}
    for kind, parts in JOBS_OF.items():
        tried = [named[name] for name, times in parts for _ in range(times)]
        rng = np.random.default_rng(SEED)
        ended: dict[str, list[Ended]] = {CONFIRMED: [], NETTED: [], SUMMED: []}
        for _ in range(jobs):
            order = [tried[at] for at in rng.permutation(len(tried))]
            rounds = _rounds(rng, order, rho)
            ended[CONFIRMED].append(confirmed(rng, rounds))
            ended[NETTED].append(netted(rng, rounds))
            ended[SUMMED].append(summed(rng, order, rho))
        for way, all_of in ended.items():
            yield JobCell(way, kind, rho, tuple(all_of))


def confirmed(rng: np.random.Generator, played: Played) -> Ended:
    """All that was accepted by evidence, once more by evidence on fresh repeats."""
    if not len(played.aimed):
        return Ended(False, 0.0, played.cost)
    options, half = TuneOptions(), played.half
    first = options.confirm_repeats
    rule = options.confirmation(len(played.aimed), len(played.held))
    cost = played.cost + 2 * INCIDENTS * first
    fixed = tested(rule.target, rng, half, played.aimed, first)
    cost += fixed.cost - 2 * first * len(played.aimed)
    if not fixed.accepted:
        return Ended(False, 0.0, cost)
    kept = tested(rule.guard, rng, half, played.held, first)
    cost += kept.cost - 2 * first * len(played.held)
    return Ended(kept.accepted, played.gain, cost)


def netted(rng: np.random.Generator, played: Played) -> Ended:
    """The same edits; two fresh repeats of the half must show a net fix, and nothing more."""
    if not len(played.aimed):
        return Ended(False, 0.0, played.cost)
    first, half = TuneOptions().confirm_repeats, played.half
    shown = rng.binomial(first, half.after).sum() > rng.binomial(first, half.before).sum()
    return Ended(bool(shown), played.gain, played.cost + 2 * INCIDENTS * first)


def summed(rng: np.random.Generator, tried: list[Effect], rho: float) -> Ended:
    """Strict sums over three incidents of train, then a validation pass; its best is proposed."""
    before, _ = begun(rng, rho)
    valset = rng.permutation(INCIDENTS)[:VALSET]
    present, best = before, before
    score = seed = int((rng.random(VALSET) < before[valset]).sum())
    cost = VALSET
    for effect in tried:
        target = rng.permutation(INCIDENTS)[: int(rng.choice(CLUSTERS))]
        after = changed(rng, effect, rho, present, target)
        chosen = rng.permutation(INCIDENTS)[:SUM_BATCH]
        was = (rng.random(SUM_BATCH) < present[chosen]).sum()
        cost += 2 * SUM_BATCH
        if (rng.random(SUM_BATCH) < after[chosen]).sum() <= was:
            continue
        cost += VALSET
        now = int((rng.random(VALSET) < after[valset]).sum())
        present = after
        if now > score:
            score, best = now, after
    return Ended(score > seed, float((best - before).mean()), cost)


def _rounds(rng: np.random.Generator, tried: list[Effect], rho: float) -> Played:
    """Candidates one after the other, each on top of those that were accepted before."""
    before, solved = begun(rng, rho)
    passed, present = np.flatnonzero(solved), before
    aimed: set[int] = set()
    cost, rule = BASELINE * INCIDENTS, TuneOptions().rule()
    for effect in tried:
        failing = np.flatnonzero(~solved)
        if not len(failing):
            break
        target = rng.permutation(failing)[: int(rng.choice(CLUSTERS))]
        after = changed(rng, effect, rho, present, target)
        half = Half(present, after, target, rng.permutation(np.flatnonzero(solved)))
        ruled = screened(rule.target, rule.guard, rng, half)
        cost += ruled.cost
        if ruled.accepted:
            present = after
            aimed |= {int(one) for one in target}
            solved[failing] = counted(rng, present[failing])
            cost += BASELINE * len(failing)
    half = Half(before, present, passed, passed)
    return Played(half, np.array(sorted(aimed), int), passed, cost)
