"""The effect of everything accepted, measured again on fresh repeats, and the proposal's row."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from heldout.brain import Brain
from heldout.compare import first_difference
from heldout.edit import apply_edits, diff, diff_hash
from heldout.run.plan import Arm, Outcome, RunResult
from heldout.run.reduce import final
from heldout.store import remember_brain
from heldout.tune.acceptance import Pairs, effect
from heldout.tune.batches import pairs
from heldout.tune.context import Context, State
from heldout.tune.log import Entry
from heldout.tune.probing import beside

BEFORE, AFTER = "before", "after"


async def confirm(job: Context, state: State) -> dict[str, Any]:
    """Play train with the brain before and after on fresh repeats; the evidence for a reviewer.

    ``confirmed`` is false when the fresh repeats show no net fix.
    """
    options = job.options
    result = await job.player.play(
        "confirm",
        job.cases,
        [Arm(BEFORE, job.base), Arm(AFTER, state.brain)],
        repeats=options.confirm_repeats,
        seed=options.derived_seed("confirm", state.brain.hash),
    )
    ids = [case.incident.id for case in job.cases]
    every = pairs(result.outcomes, BEFORE, AFTER, ids)
    traps = {case.incident.id: every[case.incident.id] for case in job.cases if case.is_trap}
    controls = {case.incident.id: every[case.incident.id] for case in job.cases if not case.is_trap}
    on_all = effect(every)
    return {
        "confirmed": on_all.fixed > on_all.broken,
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
