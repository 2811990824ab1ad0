"""Candidates against the present brain on small train batches, look by look.

The candidates of a round and the present brain are arms of one interleaved run over the targeted
failures. Further looks go to the candidate with the largest lead, until it is decided. One that
convinces is then held against the present brain on what passed before; the first that breaks
nothing, and tells the model no answers, is accepted. So the guard batch, which most candidates
never reach, is not paid for all of them.

What a look plays follows from the looks before it, which are stored runs: a resumed job buys the
same repeats with the same seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heldout.propose import Cluster, remembered
from heldout.run.plan import Arm, Outcome
from heldout.tune.acceptance import Batch, Decision, Purchase, effect
from heldout.tune.batches import guard_batch, pairs
from heldout.tune.context import Context, State
from heldout.tune.drafting import Candidate
from heldout.tune.log import Entry
from heldout.tune.probing import BY, HOW, alert_only
from heldout.tune.results import Accepted

BEFORE = "before"
KEPT = 2
"""Candidates with a lead that are kept for a further look; those with less of it are set aside."""


@dataclass(slots=True)
class _Trial:
    """One candidate on its way through the looks."""

    arm: str
    candidate: Candidate
    target: Batch
    guard: Batch = field(default_factory=lambda: Batch(()))
    decision: Decision | None = None
    set_aside: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What the model says with the alert alone, before and after."""
    by: str = "screen"
    """Who ruled last."""

    @property
    def is_open(self) -> bool:
        """True while it may get another look."""
        undecided = self.decision is None or self.decision.ruling == "indecisive"
        return undecided and not self.set_aside

    @property
    def leads(self) -> bool:
        """True while it fixed more pairs of its target than it broke."""
        return effect(self.target.seen).net > 0

    def rank(self) -> tuple[float, int, str]:
        """The larger effect first, at equal effect the smaller edit."""
        seen = effect(self.target.seen)
        return (-round(seen.net, 2), len(self.candidate.edit.added_lines()), self.arm)


async def screen(
    job: Context, state: State, cluster: Cluster, candidates: Sequence[Candidate]
) -> Candidate | None:
    """The candidate to accept, ``None`` when none convinces; every ruling becomes a row."""
    trials = [
        _Trial(f"c{number}", one, Batch(cluster.incidents))
        for number, one in enumerate(candidates, 1)
    ]
    best: _Trial | None = None
    look = 0
    while best is None and (waiting := [one for one in trials if one.is_open]):
        look += 1
        played = _next(waiting)
        await _look(job, state, played, look)
        convincing = [one for one in played if one.decision and one.decision.ruling == "accept"]
        for trial in sorted(convincing, key=_Trial.rank):
            if await _is_safe(job, state, trial) and await _is_method(job, state, trial):
                best = trial
                break
        for trial in _surplus([one for one in trials if one.is_open], best):
            trial.set_aside = "another candidate of the round did better"
    for trial in trials:
        _settle(job, state, trial, best, cluster)
    return best.candidate if best else None


def _next(waiting: Sequence[_Trial]) -> Sequence[_Trial]:
    """Who is looked at next: all that nobody looked at, then the leader, without one all."""
    unseen = [one for one in waiting if one.decision is None]
    leading = sorted((one for one in waiting if one.leads), key=_Trial.rank)
    return unseen or leading[:1] or waiting


def _surplus(waiting: Sequence[_Trial], best: _Trial | None) -> Sequence[_Trial]:
    """Who gets no further look: all once one is accepted, else leaders beyond :data:`KEPT`."""
    if best:
        return waiting
    return sorted((one for one in waiting if one.leads), key=_Trial.rank)[KEPT:]


async def _look(job: Context, state: State, trials: Sequence[_Trial], look: int) -> None:
    """One look at the targeted failures; candidates that buy the same share one run."""
    test = job.rule.target
    groups: dict[Purchase | None, list[_Trial]] = {}
    for trial in trials:
        groups.setdefault(test.buy(trial.target), []).append(trial)
    for purchase, group in groups.items():
        assert purchase is not None, "a test is indecisive only where more may be bought"
        outcomes, run = await _play(job, state, purchase, group, ("screen", state.round, look))
        for trial in group:
            found = pairs(outcomes, BEFORE, trial.arm, purchase.incidents)
            trial.target.add(purchase, found)
            trial.decision = test.judge(trial.target)
            _tell(job, state, trial, "target", look, run)


async def _play(
    job: Context,
    state: State,
    purchase: Purchase,
    trials: Sequence[_Trial],
    seeded: tuple[object, ...],
) -> tuple[Sequence[Outcome], str]:
    """The outcomes of a purchase, the present brain and candidates interleaved; and the run."""
    result = await job.player.play(
        "screen",
        [job.case(incident) for incident in purchase.incidents],
        [Arm(BEFORE, state.brain), *(Arm(one.arm, one.candidate.brain) for one in trials)],
        repeats=purchase.repeats,
        seed=job.options.derived_seed(*seeded),
    )
    return result.outcomes, result.run


async def _is_safe(job: Context, state: State, trial: _Trial) -> bool:
    """Whether a convincing candidate breaks nothing of what passed before."""
    held, test = trial.decision, job.rule.guard
    seed = job.options.derived_seed("guard", state.round)
    trial.guard = Batch(guard_batch(job.cases, state.solved, seed))
    if not trial.guard.incidents:
        return True
    look = 0
    while purchase := test.buy(trial.guard):
        look += 1
        outcomes, run = await _play(job, state, purchase, [trial], ("guard", state.round, look))
        trial.guard.add(purchase, pairs(outcomes, BEFORE, trial.arm, purchase.incidents))
        trial.decision = test.judge(trial.guard)
        _tell(job, state, trial, "guard", look, run)
        if trial.decision.ruling == "accept":
            trial.decision = held
            return True
        if trial.decision.ruling == "reject":
            return False
    return False


async def _is_method(job: Context, state: State, trial: _Trial) -> bool:
    """Whether a candidate tells how to find a cause, and not what the cause is."""
    trial.told = await alert_only(job, state, trial.candidate.edit, trial.candidate.brain)
    if trial.told.get("verdict") != "rises":
        return True
    trial.by, trial.decision = BY, Decision("reject", HOW, float(trial.told["p"]))
    return False


def _tell(job: Context, state: State, trial: _Trial, batch: str, look: int, run: str) -> None:
    edit, decision = trial.candidate.edit, trial.decision
    assert decision is not None
    seen = effect((trial.target if batch == "target" else trial.guard).seen)
    entry = Entry(f"round/{state.round}/{edit.id}/{batch}/{look}", "screened", edit.id, state.round)
    detail = {
        "batch": batch,
        "look": look,
        "ruling": decision.ruling,
        "reason": decision.reason,
        "p": decision.p,
        "effect": seen.plain(),
        "run": run,
        "arm": trial.arm,
    }
    job.log.record(entry, detail)
    job.tell("screened", f"edit {edit.id}: {decision.ruling}, {decision.reason}")


def _settle(
    job: Context, state: State, trial: _Trial, best: _Trial | None, cluster: Cluster
) -> None:
    """Write down what became of a candidate, and remember why it fell."""
    edit, decision = trial.candidate.edit, trial.decision
    assert decision is not None
    stem = f"round/{state.round}/{edit.id}"
    target, guard = effect(trial.target.seen).plain(), effect(trial.guard.seen).plain()
    detail: dict[str, Any] = {
        "reason": decision.reason,
        "cluster": edit.cluster,
        "target": target,
        "regression": guard,
    }
    if trial is best:
        job.log.record(Entry(f"{stem}/accepted", "accepted", edit.id, state.round), detail)
        accepted = Accepted(
            edit, state.round, decision.reason, target, guard, cluster.incidents, trial.told,
            trial.candidate.review,
        )  # fmt: skip
        state.accepted.append(accepted)
        job.tell("accepted", f"edit {edit.id}: {decision.reason}", edit)
    elif decision.ruling == "reject":
        state.refuse(trial.by, remembered(edit, decision.reason))
        entry = Entry(f"{stem}/rejected", "rejected", edit.id, state.round)
        job.log.record(entry, {"by": trial.by, **detail})
        job.tell("rejected", f"edit {edit.id} rejected: {decision.reason}")
    else:
        because = trial.set_aside or "another candidate of the round did better"
        entry = Entry(f"{stem}/set_aside", "set_aside", edit.id, state.round)
        job.log.record(entry, {"because": because, **detail})


async def clear(job: Context, state: State, candidate: Candidate, why: str) -> bool:
    """Whether an edit that answers no failure may be kept: it harms nothing. It becomes a row."""
    trial = _Trial("c1", candidate, Batch(()))
    harmless = await _is_safe(job, state, trial) and await _is_method(job, state, trial)
    if harmless:
        seen = effect(trial.guard.seen)
        said = (
            f"it is there to {why} and breaks nothing: {seen.fixed} fixed and {seen.broken} broken"
            f" of {seen.pairs} pairs on {seen.incidents} incidents"
        )
        trial.decision = Decision("accept", said, 1.0)
    _settle(job, state, trial, trial if harmless else None, Cluster(why, (), 0))
    return harmless
