"""From outcomes to figures: what is solved, what is missing, what it cost.

A slot is one (incident, arm, repeat). Its first valid verdict is final; a slot whose attempts are
all invalid is an invalid slot; one that was never started is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from heldout.run.plan import Outcome, Plan
from heldout.settings import Reducer
from heldout.stats import majority

RunStatus = Literal["finished", "error", "capped"]

_STOPPED = frozenset({"cap"})
"""Reasons of a slot that was stopped midway and is gone on with by ``heldout resume``."""


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm of a run. ``usd`` is ``None`` where a price is unknown.

    What attempts cost that left no trace (the provider failed midway) is in ``queries.cost``.

    ``coverage`` is valid slots over planned slots; ``rate`` is passes over valid slots and
    ``None`` when there are none. ``solved`` adds up what ``reducer`` makes of each incident: a
    whole number, except under ``mean``. ``seconds`` are summed over investigations.
    """

    arm: str
    reducer: Reducer
    planned: int
    passed: int
    failed: int
    invalid: int
    absent: int
    coverage: float
    rate: float | None
    solved: float
    unsolved: float
    unpaired: int
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float


def final(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, int], Outcome]:
    """The outcome that counts, by slot: the first valid attempt, else the last invalid one."""
    chosen: dict[tuple[str, str, int], Outcome] = {}
    for outcome in sorted(outcomes, key=lambda one: one.attempt):
        key = (outcome.incident, outcome.arm, outcome.repeat)
        held = chosen.get(key)
        if held is None or held.verdict.result == "invalid":
            chosen[key] = outcome
    return chosen


def solved(outcomes: Iterable[Outcome], repeats: int) -> bool | None:
    """Whether one incident is solved in one arm: the majority of valid repeats, a tie is unsolved.

    ``None`` (unpaired) with fewer than ``ceil(2n/3)`` valid ones of ``n`` repeats.
    """
    results = [one.verdict.result for one in final(outcomes).values()]
    valid = [result for result in results if result != "invalid"]
    return majority(valid.count("pass"), len(valid), repeats)


def pass_mean(outcomes: Iterable[Outcome]) -> float | None:
    """Share of valid repeats that passed; ``None`` without valid ones."""
    valid = [one for one in final(outcomes).values() if one.verdict.result != "invalid"]
    return _share(sum(one.verdict.result == "pass" for one in valid), len(valid))


def pass_all(outcomes: Iterable[Outcome], repeats: int) -> bool | None:
    """Whether every valid repeat passed (pass^k); ``None`` when unpaired."""
    mean = pass_mean(listed := list(outcomes))
    return None if solved(listed, repeats) is None else mean == 1.0


def pass_any(outcomes: Iterable[Outcome], repeats: int) -> bool | None:
    """Whether any valid repeat passed (pass@k); ``None`` when unpaired."""
    mean = pass_mean(listed := list(outcomes))
    return None if solved(listed, repeats) is None else bool(mean)


def counted(outcomes: Iterable[Outcome], repeats: int, reducer: Reducer) -> float | None:
    """What one incident in one arm counts, 0 to 1, by the named reducer; ``None`` when unpaired."""
    listed = list(outcomes)
    if reducer == "mean":
        return None if solved(listed, repeats) is None else pass_mean(listed)
    rule = {"majority": solved, "all": pass_all, "any": pass_any}[reducer]
    result = rule(listed, repeats)
    return None if result is None else float(result)


def by_incident(outcomes: Iterable[Outcome], arm: str) -> dict[str, list[Outcome]]:
    """The outcomes of one arm by incident, incidents in order."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.arm == arm:
            groups.setdefault(outcome.incident, []).append(outcome)
    return dict(sorted(groups.items()))


def solved_by_incident(outcomes: Iterable[Outcome], plan: Plan, arm: str) -> dict[str, bool | None]:
    """:func:`solved` for every incident of the plan; one that was never played is unpaired."""
    groups = by_incident(outcomes, arm)
    return {
        case.incident.id: solved(groups.get(case.incident.id, ()), plan.repeats)
        for case in plan.cases
    }


def summary(outcomes: Sequence[Outcome], plan: Plan, arm: str) -> ArmSummary:
    """One arm's figures."""
    mine = [one for one in outcomes if one.arm == arm]
    results = [one.verdict.result for one in final(mine).values()]
    passed, failed = results.count("pass"), results.count("fail")
    planned = len(plan.cases) * plan.repeats
    groups = by_incident(mine, arm)
    reducer = plan.reducer
    states = [counted(groups.get(c.incident.id, ()), plan.repeats, reducer) for c in plan.cases]
    values = [state for state in states if state is not None]
    traces = [one.trace for one in mine if one.trace is not None]
    prices = [trace.usd for trace in traces]
    known = [price for price in prices if price is not None]
    return ArmSummary(
        arm=arm,
        reducer=reducer,
        planned=planned,
        passed=passed,
        failed=failed,
        invalid=results.count("invalid"),
        absent=planned - len(results),
        coverage=_share(passed + failed, planned) or 0.0,
        rate=_share(passed, passed + failed),
        solved=sum(values),
        unsolved=len(values) - sum(values),
        unpaired=len(states) - len(values),
        calls=sum(trace.calls for trace in traces),
        input_tokens=sum(trace.input_tokens for trace in traces),
        cached_tokens=sum(trace.cached_tokens for trace in traces),
        output_tokens=sum(trace.output_tokens for trace in traces),
        usd=sum(known) if len(known) == len(prices) else None,
        seconds=sum(trace.seconds for trace in traces),
    )


def summaries(outcomes: Sequence[Outcome], plan: Plan) -> tuple[ArmSummary, ...]:
    """:func:`summary` of every arm, in the plan's order."""
    return tuple(summary(outcomes, plan, arm.name) for arm in plan.arms)


def invalid_share(outcomes: Iterable[Outcome]) -> float:
    """Invalid slots over started slots; 0 when none was started.

    One that a cap of the job stopped is neither: nothing failed, and a resumed run goes on there.
    """
    results = [one.verdict.result for one in final(outcomes).values() if one.reason not in _STOPPED]
    return _share(results.count("invalid"), len(results)) or 0.0


def run_status(outcomes: Iterable[Outcome], plan: Plan, absent: int) -> RunStatus:
    """``error`` above the plan's ``max_invalid``, else ``capped`` with slots absent or stopped."""
    listed = list(outcomes)
    if invalid_share(listed) > plan.max_invalid:
        return "error"
    stopped = any(one.reason in _STOPPED for one in final(listed).values())
    return "capped" if absent or stopped else "finished"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
