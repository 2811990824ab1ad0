"""Candidates against the present brain on small train batches, look by look.

The candidates of a round and the present brain are arms of one interleaved run over the targeted
failures. One that convinces there is then held against the present brain on the guard batch; the
first that breaks nothing, and tells the model no answers, is accepted. So the guard batch, which
most candidates never reach, is not paid for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heldout.propose import Cluster, remembered
from heldout.run.plan import Arm
from heldout.tune.acceptance import Decision, Pairs, effect, judge_guard, judge_target, merge
from heldout.tune.batches import guard_batch, pairs, target_batch
from heldout.tune.context import Context, State
from heldout.tune.drafting import Candidate
from heldout.tune.log import Entry
from heldout.tune.probing import BY, HOW, alert_only
from heldout.tune.results import Accepted

BEFORE = "before"
KEPT = 2
"""Candidates that get a further look on the target; those with less of a lead are set aside."""


@dataclass(slots=True)
class _Trial:
    """One candidate on its way through the looks."""

    arm: str
    candidate: Candidate
    target: list[Pairs] = field(default_factory=list)
    guard: list[Pairs] = field(default_factory=list)
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

    def rank(self) -> tuple[float, int, str]:
        """The larger effect first, at equal effect the smaller edit."""
        seen = effect(merge(self.target))
        return (-round(seen.net, 2), len(self.candidate.edit.added_lines()), self.arm)


async def screen(
    job: Context, state: State, cluster: Cluster, candidates: Sequence[Candidate]
) -> Candidate | None:
    """The candidate to accept, ``None`` when none convinces; every ruling becomes a row."""
    trials = [_Trial(f"c{number}", one) for number, one in enumerate(candidates, 1)]
    targets = target_batch(cluster, job.options.batch)
    best: _Trial | None = None
    for look in range(1, job.options.looks + 1):
        await _look(job, state, [one for one in trials if one.is_open], targets, look)
        convincing = [one for one in trials if one.decision and one.decision.ruling == "accept"]
        for trial in sorted(convincing, key=_Trial.rank):
            if await _is_safe(job, state, trial) and await _is_method(job, state, trial):
                best = trial
                break
        waiting = sorted((one for one in trials if one.is_open), key=_Trial.rank)
        for trial in waiting if best else waiting[KEPT:]:
            trial.set_aside = "another candidate of the round did better"
        if best or not waiting:
            break
    for trial in trials:
        _settle(job, state, trial, best, cluster)
    return best.candidate if best else None


async def _look(
    job: Context, state: State, trials: Sequence[_Trial], targets: Sequence[str], look: int
) -> None:
    """One look at the targeted failures, for all candidates that are still open."""
    options = job.options
    result = await job.player.play(
        "screen",
        [job.case(incident) for incident in targets],
        [Arm(BEFORE, state.brain), *(Arm(one.arm, one.candidate.brain) for one in trials)],
        repeats=options.screen_repeats,
        seed=options.derived_seed("screen", state.round, look),
    )
    for trial in trials:
        trial.target.append(pairs(result.outcomes, BEFORE, trial.arm, targets))
        trial.decision = judge_target(merge(trial.target), look=look, looks=options.looks)
        _tell(job, state, trial, "target", look, result.run)


async def _is_safe(job: Context, state: State, trial: _Trial) -> bool:
    """Whether a convincing candidate breaks nothing of what passed before."""
    options = job.options
    guards = guard_batch(
        job.cases, state.solved, options.batch, options.derived_seed("guard", state.round)
    )
    if not guards:
        return True
    for look in range(1, options.looks + 1):
        result = await job.player.play(
            "screen",
            [job.case(incident) for incident in guards],
            [Arm(BEFORE, state.brain), Arm(trial.arm, trial.candidate.brain)],
            repeats=options.screen_repeats,
            seed=options.derived_seed("guard", state.round, look),
        )
        trial.guard.append(pairs(result.outcomes, BEFORE, trial.arm, guards))
        verdict = judge_guard(merge(trial.guard), look=look, looks=options.looks)
        held, trial.decision = trial.decision, verdict
        _tell(job, state, trial, "guard", look, result.run)
        if verdict.ruling == "accept":
            trial.decision = held
            return True
        if verdict.ruling == "reject":
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
    seen = effect(merge(trial.target if batch == "target" else trial.guard))
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
    target, guard = effect(merge(trial.target)).plain(), effect(merge(trial.guard)).plain()
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
    trial = _Trial("c1", candidate)
    harmless = await _is_safe(job, state, trial) and await _is_method(job, state, trial)
    if harmless:
        seen = effect(merge(trial.guard))
        said = (
            f"it is there to {why} and breaks nothing: {seen.fixed} fixed and {seen.broken} broken"
            f" of {seen.pairs} pairs on {seen.incidents} incidents"
        )
        trial.decision = Decision("accept", said, 1.0)
    _settle(job, state, trial, trial if harmless else None, Cluster(why, (), 0))
    return harmless
