"""Candidates against the present brain on small train batches, look by look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from heldout.propose import Cluster, remembered
from heldout.run.plan import Arm
from heldout.tune.acceptance import Decision, Pairs, decide, effect, merge
from heldout.tune.batches import pairs, regression_batch, target_batch
from heldout.tune.context import Context, State
from heldout.tune.drafting import Candidate
from heldout.tune.log import Entry
from heldout.tune.results import Accepted

BEFORE = "before"


@dataclass(slots=True)
class _Trial:
    """One candidate on its way through the looks."""

    arm: str
    candidate: Candidate
    target: list[Pairs] = field(default_factory=list)
    regression: list[Pairs] = field(default_factory=list)
    decision: Decision | None = None

    @property
    def is_open(self) -> bool:
        return self.decision is None or self.decision.ruling == "indecisive"


async def screen(
    job: Context, state: State, cluster: Cluster, candidates: Sequence[Candidate]
) -> Candidate | None:
    """The candidate to accept, ``None`` when none convinces; every ruling becomes a row.

    All candidates and the present brain are arms of one interleaved run, so that they share the
    "before" investigations. Undecided ones get further looks with fresh repeats; the looks end
    when a candidate is accepted.
    """
    options = job.options
    trials = [_Trial(f"c{number}", one) for number, one in enumerate(candidates, 1)]
    targets = target_batch(cluster, options.batch)
    guards = regression_batch(
        job.cases, state.solved, options.batch, options.derived_seed("guard", state.round)
    )
    for look in range(1, options.looks + 1):
        await _look(job, state, [one for one in trials if one.is_open], targets, guards, look)
        accepted = [one for one in trials if one.decision and one.decision.ruling == "accept"]
        if accepted or not any(one.is_open for one in trials):
            break
    best = min(accepted, key=_rank, default=None)
    for trial in trials:
        _settle(job, state, trial, best)
    return best.candidate if best else None


def _rank(trial: _Trial) -> tuple[float, int, str]:
    """The larger effect first, at equal effect the smaller edit."""
    seen = effect(merge(trial.target))
    return (-round(seen.net, 2), len(trial.candidate.edit.added_lines()), trial.arm)


async def _look(
    job: Context,
    state: State,
    trials: Sequence[_Trial],
    targets: Sequence[str],
    guards: Sequence[str],
    look: int,
) -> None:
    options = job.options
    result = await job.player.play(
        "screen",
        [job.case(incident) for incident in (*targets, *guards)],
        [Arm(BEFORE, state.brain), *(Arm(one.arm, one.candidate.brain) for one in trials)],
        repeats=options.screen_repeats,
        seed=options.derived_seed("screen", state.round, look),
    )
    for trial in trials:
        trial.target.append(pairs(result.outcomes, BEFORE, trial.arm, targets))
        trial.regression.append(pairs(result.outcomes, BEFORE, trial.arm, guards))
        target, regression = merge(trial.target), merge(trial.regression)
        trial.decision = decide(target, regression, look=look, looks=options.looks)
        edit = trial.candidate.edit
        job.log.record(
            Entry(f"round/{state.round}/{edit.id}/look/{look}", "screened", edit.id, state.round),
            {
                "look": look,
                "ruling": trial.decision.ruling,
                "reason": trial.decision.reason,
                "p": trial.decision.p,
                "target": effect(target).plain(),
                "regression": effect(regression).plain(),
                "run": result.run,
                "arm": trial.arm,
            },
        )
        job.tell("screened", f"edit {edit.id}: {trial.decision.ruling}, {trial.decision.reason}")


def _settle(job: Context, state: State, trial: _Trial, best: _Trial | None) -> None:
    """Write down what became of a candidate, and remember why it fell."""
    edit, decision = trial.candidate.edit, trial.decision
    assert decision is not None
    stem = f"round/{state.round}/{edit.id}"
    target, regression = effect(merge(trial.target)), effect(merge(trial.regression))
    detail = {
        "reason": decision.reason,
        "cluster": edit.cluster,
        "target": target.plain(),
        "regression": regression.plain(),
    }
    if trial is best:
        job.log.record(Entry(f"{stem}/accepted", "accepted", edit.id, state.round), detail)
        state.accepted.append(
            Accepted(edit, state.round, decision.reason, target.plain(), regression.plain())
        )
        job.tell("accepted", f"edit {edit.id}: {decision.reason}", edit)
    elif decision.ruling == "reject":
        state.refuse("screen", remembered(edit, decision.reason))
        entry = Entry(f"{stem}/rejected", "rejected", edit.id, state.round)
        job.log.record(entry, {"by": "screen", **detail})
        job.tell("rejected", f"edit {edit.id} rejected: {decision.reason}")
    else:
        why = {"because": "another candidate of the round was accepted", **detail}
        job.log.record(Entry(f"{stem}/set_aside", "set_aside", edit.id, state.round), why)
