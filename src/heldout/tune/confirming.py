"""The effect of everything accepted, measured again on fresh repeats, and the proposal's row.

Candidates were many and looked at often; fresh repeats know nothing of that. So this one test
bounds the whole job: where no edit has an effect, a proposal comes out in at most 5 % of cases,
however many were tried. It asks what the screen asked of each: is there a fix on the incidents that
edits were written for, and does what passed at the baseline still pass? Undecided, it buys more
repeats of both up to a cap.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from heldout.brain import Brain
from heldout.compare import first_difference
from heldout.edit import apply_edits, diff, diff_hash
from heldout.run.plan import Arm, Outcome, RunResult
from heldout.run.reduce import final
from heldout.split import Case
from heldout.store import remember_brain
from heldout.tune.acceptance import Batch, Decision, Pairs, Purchase, Question, effect
from heldout.tune.batches import pairs
from heldout.tune.context import Context, State
from heldout.tune.elsewhere import Elsewhere, passed_there
from heldout.tune.log import Entry
from heldout.tune.player import Player
from heldout.tune.probing import beside

BEFORE, AFTER = "before", "after"


async def confirm(job: Context, state: State) -> dict[str, Any]:
    """Play train with the brain before and after on fresh repeats; the evidence for a reviewer.

    ``confirmed`` is false when fresh repeats do not show a fix, or do not rule out harm; ``why``
    says it. The counts are over the first repeats, the same number of each incident.
    """
    options = job.options
    result = await _play(job, state, [case.incident.id for case in job.cases], "")
    ids = [case.incident.id for case in job.cases]
    every = pairs(result.outcomes, BEFORE, AFTER, ids)
    traps = {case.incident.id: every[case.incident.id] for case in job.cases if case.is_trap}
    controls = {case.incident.id: every[case.incident.id] for case in job.cases if not case.is_trap}
    tests = await _tests(job, state, every)
    failed = [one for one in tests if one.decision.ruling != "accept"]
    return {
        "confirmed": not failed,
        "why": "; ".join([one.decision.reason for one in failed or tests] + _unheld(job, tests)),
        "tests": {one.name: one.plain() for one in tests},
        "run": result.run,
        "repeats": options.confirm_repeats,
        "traps": effect(traps).plain(),
        "controls": effect(controls).plain(),
        "incidents": [_incident(job, incident, every) for incident in ids],
        "size": _size(job, job.base, state.brain),
        "cost": {arm: _cost(result.outcomes, arm) for arm in (BEFORE, AFTER)},
        "trace_pair": divergence(result),
        "target": options.target,
        "simulated": job.model.startswith("sim/"),
    }


@dataclass(frozen=True, slots=True)
class Ground:
    """Where both brains are played: the job's own environment, or another one."""

    player: Player
    cases: tuple[Case, ...]

    def named(self, incidents: Sequence[str]) -> list[Case]:
        """Its cases of these incidents, in order."""
        known = {case.incident.id: case for case in self.cases}
        return [known[one] for one in incidents]


@dataclass(frozen=True, slots=True)
class _Test:
    """One question about everything accepted, and what it came to."""

    name: str
    batch: Batch
    decision: Decision

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return {
            "ruling": self.decision.ruling,
            "reason": self.decision.reason,
            "p": self.decision.p,
            "investigations": self.batch.spent,
            "effect": effect(self.batch.seen).plain(),
        }


async def _tests(job: Context, state: State, every: Pairs) -> list[_Test]:
    """Whether what was aimed at is fixed, and then whether what passed still passes.

    A change that no edit tells the aim of (a person amended it) is asked both about all of train.
    """
    aimed = {incident for one in state.accepted for incident in one.targets}
    targets = tuple(sorted(aimed)) or tuple(every)
    held = state.passed if aimed else tuple(every)
    rule = job.options.confirmation(len(targets), len(held))
    here = Ground(job.player, job.cases)
    found = [await _decided(job, state, ("target", targets, rule.target), every, here)]
    if held and found[0].decision.ruling == "accept":
        found.append(await _decided(job, state, ("held", held, rule.guard), every, here))
    if job.elsewhere is not None and found[-1].decision.ruling == "accept":
        found += await _there(job, state, job.elsewhere)
    return found


async def _there(job: Context, state: State, elsewhere: Elsewhere) -> list[_Test]:
    """Whether what the brain before passes in another environment still passes; none if nothing."""
    ground = Ground(elsewhere.player(job.player), elsewhere.chosen())
    seed = job.options.derived_seed("elsewhere", job.base.hash)
    passed = await passed_there(ground.player, ground.cases, Arm(BEFORE, job.base), seed)
    if not passed:
        return []
    result = await _play(job, state, passed, "elsewhere", ground=ground)
    every = pairs(result.outcomes, BEFORE, AFTER, passed)
    rule = job.options.confirmation(len(passed), len(passed))
    asked = ("elsewhere", tuple(passed), rule.guard)
    return [await _decided(job, state, asked, every, ground)]


def _unheld(job: Context, tests: Sequence[_Test]) -> list[str]:
    """What a reviewer has to know of a guard that had nothing to hold."""
    held = any(one.name == "elsewhere" for one in tests)
    if job.elsewhere is None or held or tests[-1].decision.ruling != "accept":
        return []
    name = job.elsewhere.cases[0].incident.set
    return [f"the brain before passes nothing in set '{name}', so nothing is held there"]


async def _decided(
    job: Context,
    state: State,
    asked: tuple[str, tuple[str, ...], Question],
    every: Pairs,
    ground: Ground,
) -> _Test:
    """One question on the fresh repeats that are there, and on further ones until it is decided."""
    name, incidents, question = asked
    batch = Batch(incidents)
    batch.add(
        Purchase(incidents, job.options.confirm_repeats), {one: every[one] for one in incidents}
    )
    decision = question.judge(batch)
    while decision.ruling == "indecisive" and (purchase := question.buy(batch)):
        step = f"{name}/{len(batch.looks)}"
        result = await _play(job, state, purchase.incidents, step, purchase.repeats, ground)
        batch.add(purchase, pairs(result.outcomes, BEFORE, AFTER, purchase.incidents))
        decision = question.judge(batch)
    return _Test(name, batch, decision)


async def _play(
    job: Context,
    state: State,
    incidents: Sequence[str],
    step: str,
    repeats: int = 0,
    ground: Ground | None = None,
) -> RunResult:
    """Both brains on incidents; ``step`` names a further look, whose repeats are fresh again."""
    ground = ground or Ground(job.player, job.cases)
    seeded = ("confirm", state.brain.hash, *([step] if step else []))
    return await ground.player.play(
        "confirm",
        ground.named(incidents),
        [Arm(BEFORE, job.base), Arm(AFTER, state.brain)],
        repeats=repeats or job.options.confirm_repeats,
        seed=job.options.derived_seed(*seeded),
    )


def _incident(job: Context, incident: str, every: Pairs) -> dict[str, Any]:
    return {
        "incident": incident,
        "kind": job.case(incident).kind,
        "before": [before for before, _ in every[incident]],
        "after": [after for _, after in every[incident]],
    }


def _size(job: Context, before: Brain, after: Brain) -> dict[str, int]:
    prompts = [brain.prompt(job.model, job.interface) for brain in (before, after)]
    lines = [sum(bool(line.strip()) for line in prompt.splitlines()) for prompt in prompts]
    return {
        "lines_before": lines[0],
        "lines_after": lines[1],
        "characters_before": len(prompts[0]),
        "characters_after": len(prompts[1]),
    }


def _cost(outcomes: Sequence[Outcome], arm: str) -> dict[str, float | None]:
    """Means per investigation; USD is ``None`` where a price is unknown."""
    traces = [one.trace for one in outcomes if one.arm == arm and one.trace is not None]
    if not traces:
        return {"usd": None, "tokens": None, "calls": None, "seconds": None}
    prices = [trace.usd for trace in traces]
    known = [price for price in prices if price is not None]
    return {
        "usd": fmean(known) if len(known) == len(prices) else None,
        "tokens": fmean(trace.input_tokens + trace.output_tokens for trace in traces),
        "calls": fmean(trace.calls for trace in traces),
        "seconds": fmean(trace.seconds for trace in traces),
    }


def divergence(result: RunResult) -> dict[str, Any] | None:
    """The first incident that was fixed, and the first tool call in which the two traces differ."""
    chosen = final(result.outcomes)
    for (incident, arm, repeat), before in sorted(chosen.items()):
        after = chosen.get((incident, AFTER, repeat))
        if arm != BEFORE or after is None or before.trace is None or after.trace is None:
            continue
        if (before.verdict.result, after.verdict.result) != ("fail", "pass"):
            continue
        return {
            "run": result.run,
            "incident": incident,
            "repeat": repeat,
            "before_attempt": before.attempt,
            "after_attempt": after.attempt,
            "step": first_difference(before.trace.steps, after.trace.steps),
        }
    return None


def propose_brain(job: Context, state: State, evidence: Mapping[str, Any]) -> str:
    """Write the proposal and return its id; the edits alone lead from the old brain to the new."""
    after = apply_edits(job.base, (one.edit for one in state.accepted))
    bound = diff_hash(job.base, after)
    proposal = "p-" + hashlib.sha256(f"{job.options.job}\0{bound}".encode()).hexdigest()[:12]
    ledger = job.player.ledger
    remember_brain(ledger, job.base)
    remember_brain(ledger, after)
    row = {
        "proposal": proposal,
        "job": job.options.job,
        "model": job.model,
        "set": job.player.set,
        "before_hash": job.base.hash,
        "after_hash": after.hash,
        "diff": diff(job.base, after),
        "diff_hash": bound,
        "edits_json": [beside(one, evidence.get("behaviour", {})) for one in state.accepted],
        "evidence_json": dict(evidence),
    }
    entry = Entry("proposed", "proposed", round=state.round)
    job.log.record(entry, {"proposal": proposal}, beside={"proposals": [row]})
    job.tell("proposal", f"proposal {proposal} waits for a decision", row)
    return proposal
