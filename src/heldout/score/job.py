"""One opening of the held-out half, from the budget of looks to the stored result.

The order is the point: brains, incidents and budget are checked, the gate is asked about the brain
after, the floors are played (no model), the endpoint is written and hashed together with the looks,
and only then is a model called. Nothing here writes to a brain.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from heldout.behaviour import RunWatch
from heldout.canaries import Watch, canary_hashes
from heldout.compare import Footprints, final_outcomes, known_entities
from heldout.environments import REPAIR, open_environment
from heldout.errors import ProviderUnavailable, UsageError
from heldout.floors import Floor, generous_judge, play_floors
from heldout.graph import WorldInterface
from heldout.interface import Interface
from heldout.judge import JudgeChoice, judge_hash
from heldout.llm.names import ModelName
from heldout.run.caps import Budget, Caps
from heldout.run.judging import Judge
from heldout.run.month import open_month
from heldout.run.plan import Outcome, Plan, RunResult
from heldout.run.play import ClientFactory, play
from heldout.run.play import resume as resume_run
from heldout.score.arms import ARMS, Brains, Lineup, Supplies, plans_for
from heldout.score.clearance import Clearance, Gate, clear, clearance_of
from heldout.score.faults import fault_rows
from heldout.score.looks import Looks, choose, looks_of
from heldout.score.means import require_means, require_month
from heldout.score.progress import Merged, OnProgress, Progress
from heldout.score.ranking import ranked
from heldout.score.request import ScoreRequest, asked_of, endpoint, endpoint_hash
from heldout.score.result import Score
from heldout.score.supplying import lined_up, train_of
from heldout.score.table import arm_rows
from heldout.score.views import (
    Material,
    breakdown,
    controls_of,
    decide,
    evidence_class,
    incident_results,
    sides_of,
)
from heldout.settings import Settings
from heldout.split import Case, HeldoutAccess, read_specs, read_split
from heldout.stats import minimum_detectable_gain
from heldout.store import Ledger, brain, now_us, queries


@dataclass(frozen=True, slots=True)
class Given:
    """What stands in the place of a set's halves, its worlds, the model's client, the judge.

    Empty for every real score; for tests and for environments of one's own. With ``cases`` of one's
    own the project's gate knows nothing of them, and only a ``gate`` that is given is asked.
    """

    cases: Sequence[Case] | None = None
    train: Sequence[Case] | None = None
    interface: Interface | None = None
    client_factory: ClientFactory | None = None
    judge: Judge | None = None
    gate: Gate | None = None


@dataclass(frozen=True, slots=True)
class _Opening:
    """What is fixed before the first model call."""

    score: str
    cases: tuple[Case, ...]
    plans: tuple[Plan, ...]
    endpoint: dict[str, Any]
    looks: Looks
    floors: tuple[Floor, ...]
    unfinished: Mapping[str, str] = field(default_factory=dict)
    """Runs of a killed score that are gone on with, by their first arm."""
    clearance: Clearance | None = None


async def run_score(
    settings: Settings,
    ledger: Ledger,
    access: HeldoutAccess,
    request: ScoreRequest,
    *,
    given: Given = Given(),
    on_progress: OnProgress | None = None,
) -> Score:
    """Score ``request.after`` against ``request.before`` on the held-out half.

    Raises LooksExhausted, UsageError, GateRejected before a look is counted, and whatever stops a
    run; then the looks stay counted, and ``request.resume`` goes on with the same one.
    """
    tell = on_progress or (lambda progress: None)
    began, cpu = time.monotonic(), time.process_time()
    ModelName.parse(request.model)
    further = {name: brain(ledger, held) for name, held in request.brains.items()}
    brains = Brains(brain(ledger, request.before), brain(ledger, request.after), further)
    month = open_month(settings, ledger)
    budget = Budget(Caps(max_usd=request.max_usd), within=month)
    require_means(settings, request.model, budget, priced=given.client_factory is not None)
    admitted = _admit(settings, ledger, request, given)
    admitted = replace(
        admitted, clearance=await asyncio.to_thread(_cleared, settings, admitted, brains, given)
    )
    tell(Progress("worlds"))
    every = given.cases if given.cases is not None else _cases(settings, request, access)
    given = replace(given, interface=given.interface or open_environment(settings.agent.tools))
    supplies = _supplies(settings, ledger, request, admitted, every, brains, given)
    lineup = await asyncio.to_thread(
        lined_up, supplies, given.gate, gated=given.cases is None or given.gate is not None
    )
    opening = _open(supplies, admitted, lineup, given, tell)
    tell(Progress("play", note=str(opening.endpoint["detectable"])))
    if not request.resume:
        ledger.append_group(_opening_rows(opening, request, brains))
        await ledger.aflush()
    watch = RunWatch(Watch(canary_hashes(settings, access)), ledger)
    results = await _play(opening, ledger, settings, budget, given, tell)
    watch.check(f"of score {opening.score}")
    require_month(month, opening.score, results)
    material = _material(settings, access, opening, results)
    _require_answers(opening.score, material)
    result = replace(
        _result(settings, request, brains, opening, material),
        runs=tuple(one.run for one in results),
        seconds=time.monotonic() - began,
        cpu_seconds=time.process_time() - cpu,
    )
    closing = {"run": results[0].run, "result_json": result.plain(), "outcome": result.outcome}
    ledger.append("scores", [_row(opening, request, brains) | closing | {"ended": now_us()}])
    await ledger.aflush()
    tell(Progress("done", note=result.verdict()))
    return result


def _cases(settings: Settings, request: ScoreRequest, access: HeldoutAccess) -> tuple[Case, ...]:
    from heldout.build import cases

    workers = min(4, os.cpu_count() or 1)
    return cases(settings, request.set or settings.set, "test", access, workers)


def _floor_worlds(given: Given) -> Interface:
    """The worlds through the tools that the floors' rules use, whatever the agent is offered."""
    played = given.interface
    if played is not None and any(spec.name == "list_changes" for spec in played.tool_specs()):
        return played
    return WorldInterface()


@dataclass(frozen=True, slots=True)
class _Admitted:
    """A score that may be played: its incidents, why others are left out, and earlier looks."""

    score: str
    nonce: str
    chosen: tuple[str, ...]
    excluded: dict[str, str]
    looks: Looks
    started: dict[str, Any] | None
    runs: Mapping[str, str]
    clearance: Clearance | None = None


def _cleared(
    settings: Settings, admitted: _Admitted, brains: Brains, given: Given
) -> Clearance | None:
    """What the gate says of the brain after; a score that is gone on with keeps what was said."""
    if admitted.started is not None:
        return clearance_of(admitted.started["pins"], brains.after)
    if given.cases is not None and given.gate is None:
        return None
    return clear(settings, brains.before, brains.new, given.gate)


def _admit(settings: Settings, ledger: Ledger, request: ScoreRequest, given: Given) -> _Admitted:
    """Check the budget of looks before anything of the held-out half is touched."""
    if given.cases is not None:
        names = sorted(case.incident.id for case in given.cases)
    else:
        names = sorted(read_split(settings.set_dir(request.set or None)).test)
    counted = queries.looks(ledger, request.model)
    score, nonce = secrets.token_hex(6), secrets.token_hex(8)
    started: dict[str, Any] | None = None
    runs: Mapping[str, str] = {}
    if request.resume:
        score, started = _unfinished(ledger, request.resume)
        nonce = str(started["pins"]["nonce"])
        runs = _runs_of(ledger, nonce)
        for incident in _opened(ledger, score):
            counted[incident] -= 1
    budget = settings.score.looks
    chosen, excluded = choose(
        names, counted, budget, exclude=request.exclude, skip_exhausted=request.skip_exhausted
    )
    looks = looks_of(chosen, counted, budget)
    return _Admitted(score, nonce, chosen, excluded, looks, started, runs)


def _supplies(
    settings: Settings,
    ledger: Ledger,
    request: ScoreRequest,
    admitted: _Admitted,
    every: Sequence[Case],
    brains: Brains,
    given: Given,
) -> Supplies:
    """The chosen incidents, and what further arms are made from."""
    chosen = set(admitted.chosen)
    cases = tuple(case for case in every if case.incident.id in chosen)
    if not any(case.is_trap for case in cases):
        raise UsageError("no trap incident is left to score", mend="Exclude fewer incidents")
    # Cases of one's own have no train half but one that is given, too.
    train = given.train if given.cases is None else given.train or ()
    open_train = train_of(settings, request.set or settings.set, train)
    return Supplies(settings, request, brains, cases, ledger, _floor_worlds(given), open_train)


def _open(
    supplies: Supplies, admitted: _Admitted, lineup: Lineup, given: Given, tell: OnProgress
) -> _Opening:
    """Fix plans and endpoint, and play the floors."""
    settings, request, cases = supplies.settings, supplies.request, tuple(supplies.cases)
    gate = admitted.clearance.pins() if admitted.clearance else {}
    judge = judge_hash(JudgeChoice.of(settings.judge))
    pins = {**request.pins, **gate, "judge": judge, "nonce": admitted.nonce}
    plans = plans_for(settings, request, supplies.brains, cases, pins, lineup)
    plain = endpoint(settings, request, cases, plans, admitted.excluded)
    plain |= {"further": lineup.plain(ARMS), "left_out": dict(lineup.left_out)}
    started = admitted.started
    if started is not None and endpoint_hash(started) != endpoint_hash(plain):
        raise UsageError(
            f"score {admitted.score} was started with another endpoint",
            mend="Restore its settings, incidents, brains and arms, or start a new score",
        )
    floors: tuple[Floor, ...] = ()
    if request.floors and settings.agent.tools != REPAIR:
        tell(Progress("floors"))
        floors = play_floors(cases, supplies.worlds, generous_judge)
    return _Opening(
        admitted.score, cases, plans, plain, admitted.looks, floors, admitted.runs,
        admitted.clearance,
    )  # fmt: skip


def _unfinished(ledger: Ledger, name: str) -> tuple[str, dict[str, Any]]:
    row = queries.score(ledger, name)
    if row.outcome is not None:
        raise UsageError(f"score {row.score} is finished", mend="Start a new one")
    return row.score, dict(row.endpoint)


def _runs_of(ledger: Ledger, nonce: str) -> dict[str, str]:
    """The stored runs of one score, by the name of their first arm."""
    return {
        str(row.manifest["arms"][0]["name"]): row.run
        for row in queries.runs(ledger, purpose="score")
        if row.manifest["pins"].get("nonce") == nonce
    }


def _opened(ledger: Ledger, score: str) -> list[str]:
    rows = ledger.read("SELECT incident FROM looks WHERE score = ?", [score])
    return [str(row["incident"]) for row in rows]


def _row(opening: _Opening, request: ScoreRequest, brains: Brains) -> dict[str, Any]:
    return {
        "score": opening.score,
        "job": request.job or None,
        "model": request.model,
        "set": opening.plans[0].set,
        "before_hash": brains.before.hash,
        "after_hash": brains.after.hash,
        "endpoint_json": {**opening.endpoint, "asked": asked_of(request)},
        "endpoint_hash": endpoint_hash(opening.endpoint),
        **(opening.clearance.row() if opening.clearance else {}),
    }


def _opening_rows(
    opening: _Opening, request: ScoreRequest, brains: Brains
) -> dict[str, list[dict[str, Any]]]:
    """The endpoint and the looks, committed together before any model call."""
    return {
        "scores": [_row(opening, request, brains)],
        "looks": [
            {"score": opening.score, "incident": case.incident.id, "model": request.model}
            for case in opening.cases
        ],
    }


async def _play(
    opening: _Opening,
    ledger: Ledger,
    settings: Settings,
    budget: Budget,
    given: Given,
    tell: OnProgress,
) -> list[RunResult]:
    """Play all plans at the same time, under one cap, with one progress."""
    plans = opening.plans
    merged = Merged(tell, [len(p.cases) * len(p.arms) * p.repeats for p in plans])

    async def one(index: int, plan: Plan) -> RunResult:
        begun = opening.unfinished.get(plan.arms[0].name)
        start = partial(resume_run, begun) if begun else partial(play, plan)
        return await start(
            ledger,
            settings,
            interface=given.interface or open_environment(settings.agent.tools),
            client_factory=given.client_factory,
            on_progress=partial(merged.update, index),
            caps=budget,
            judge=given.judge,
        )

    tasks = [asyncio.create_task(one(index, plan)) for index, plan in enumerate(plans)]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _require_answers(score: str, material: Material) -> None:
    """Without one valid investigation nothing was opened: say why, and let it be gone on with."""
    outcomes: list[Outcome] = [one for arm in material.outcomes.values() for one in arm]
    if any(one.verdict.result != "invalid" for one in outcomes):
        return
    reasons = sorted({one.reason for one in outcomes if one.reason}) or ["nothing was started"]
    detail = next((one.verdict.reasoning for one in outcomes if one.reason), "")
    raise ProviderUnavailable(
        f"no investigation was valid ({', '.join(reasons)}) {detail[:300]}".rstrip(),
        where=f"score {score}",
        mend=f"Mend it and go on with --resume {score}: the look is counted once",
    )


def _material(
    settings: Settings,
    access: HeldoutAccess,
    opening: _Opening,
    results: Sequence[RunResult],
) -> Material:
    outcomes = [one for result in results for one in result.outcomes]
    plan = opening.plans[0]
    directory = settings.set_path(plan.set)
    frozen = (directory / "split.toml").is_file()
    train = read_specs(directory, "train") if frozen else ()
    test = read_specs(directory, "test", access) if frozen else ()
    return Material(
        cases=opening.cases,
        outcomes=final_outcomes(outcomes),
        repeats=plan.repeats,
        faults={spec.id: spec.fault for spec in test},
        train_faults=frozenset(spec.fault for spec in train if spec.kind == "trap"),
        train_families=frozenset(spec.family for spec in train if spec.kind == "trap"),
        train_domains=frozenset(spec.domain for spec in train if spec.kind == "trap"),
        train_traps=frozenset(trap for spec in train for trap in spec.traps),
        footprints=Footprints(_known_entities(opening.cases)),
    )


def _known_entities(cases: Sequence[Case]) -> Mapping[str, frozenset[str]] | None:
    """Ids and names of each world's entities, to tell invented ones apart."""
    known = {}
    for case in cases:
        held = known_entities(case.incident.world)
        if held is None:
            return None
        known[case.incident.id] = held
    return known


def _result(
    settings: Settings,
    request: ScoreRequest,
    brains: Brains,
    opening: _Opening,
    material: Material,
) -> Score:
    material = _with_every_arm(material, opening)
    trap_ids, control_ids = material.ids(trap=True), material.ids(trap=False)
    traps = material.compare(trap_ids)
    controls = material.compare(control_ids) if control_ids else None
    harm = controls_of(controls, settings.score.harm_margin)
    sides = sides_of(material)
    evidence = evidence_class(request.model, opening.cases)
    fresh_ids = [name for name in trap_ids if name in set(opening.looks.fresh)]
    decision = decide(
        traps,
        harm,
        sides,
        looks=opening.looks.number,
        min_coverage=settings.score.min_coverage,
        simulated=evidence.model_class == "mechanism test",
    )
    some_fresh = 0 < len(fresh_ids) < len(trap_ids)
    prices = [side.cost.total_usd for side in sides.values()]
    further = [arm for arm in material.outcomes if arm not in ("before", "after")]
    return Score(
        score=opening.score,
        job=request.job,
        model=request.model,
        set=opening.plans[0].set,
        before_hash=brains.before.hash,
        after_hash=brains.after.hash,
        runs=(),
        evidence=evidence,
        endpoint=opening.endpoint,
        endpoint_hash=endpoint_hash(opening.endpoint),
        looks=opening.looks,
        detectable=minimum_detectable_gain(len(trap_ids)),
        outcome=decision.word,
        why=decision.why,
        traps=traps,
        p_adjusted=decision.p_adjusted,
        controls=controls,
        harm=harm,
        fresh=material.compare(fresh_ids) if some_fresh else None,
        arms={arm: material.compare(trap_ids, arm) for arm in further},
        sides=sides,
        breakdown=breakdown(material, traps.pairs),
        floors=opening.floors,
        incidents=incident_results(material, (traps, controls), opening.looks.fresh),
        repeats=material.repeats,
        seconds=0.0,
        cpu_seconds=0.0,
        usd=None if None in prices else sum(price or 0.0 for price in prices),
        clearance=opening.clearance,
        ranked=ranked(opening.cases, material.outcomes),
        faults=fault_rows(opening.cases, material.outcomes),
        table=arm_rows(material, looks=opening.looks.number, margin=settings.score.harm_margin),
    )


def _with_every_arm(material: Material, opening: _Opening) -> Material:
    """An arm without any outcome (everything absent) is an empty arm, not a missing one."""
    empty: dict[str, Any] = {arm.name: [] for plan in opening.plans for arm in plan.arms}
    return replace(material, outcomes={**empty, **material.outcomes})


def detectable_before(settings: Settings, cases: Sequence[Case]) -> str:
    """What the set can show at all, in one sentence: print it before money is spent."""
    return minimum_detectable_gain(sum(case.is_trap for case in cases)).sentence()
