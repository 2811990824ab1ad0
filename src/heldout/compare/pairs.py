"""Pairing by incident: fixed, broken, both, neither, and what could not be paired."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from heldout.agent.trace import Trace
from heldout.compare.measures import Behaviour, Cost, Footprints, behaviour, cost
from heldout.errors import ComparisonFailed, UsageError
from heldout.judge.verdict import Verdict
from heldout.stats import (
    Evidence,
    Interval,
    cluster_difference,
    cluster_rate,
    majority,
    mcnemar_exact,
    outcome,
    tango_interval,
    wilson,
    worst_case_p,
)
from heldout.stats.decision import Outcome

Cell = Literal["fixed", "broken", "both", "neither", "unpaired"]


class Played(Protocol):
    """What pairing needs of one investigation; a run's outcomes fit."""

    @property
    def incident(self) -> str:
        """Which incident was investigated."""
        ...

    @property
    def verdict(self) -> Verdict:
        """What came of it."""
        ...

    @property
    def trace(self) -> Trace | None:
        """What it did; invalid ones may lack it."""
        ...

    @property
    def reason(self) -> str:
        """Why it is invalid."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """One arm on one incident: passes among valid investigations, of those planned."""

    passes: int
    valid: int
    planned: int

    @property
    def solved(self) -> bool | None:
        """Majority of valid repeats; ``None`` with too few of them."""
        return majority(self.passes, self.valid, self.planned)

    @property
    def rate(self) -> float | None:
        """Share of valid investigations that passed; ``None`` without a valid one."""
        return self.passes / self.valid if self.valid else None


@dataclass(frozen=True, slots=True)
class Pair:
    """One incident in both arms."""

    incident: str
    before: Tally
    after: Tally

    @property
    def cell(self) -> Cell:
        """Where the incident stands in the two-by-two table."""
        return cell_of(self.before.solved, self.after.solved)


def cell_of(before: bool | None, after: bool | None) -> Cell:
    """The cell for two reduced results."""
    if before is None or after is None:
        return "unpaired"
    if before == after:
        return "both" if before else "neither"
    return "fixed" if after else "broken"


@dataclass(frozen=True, slots=True)
class Side:
    """One arm over all incidents of a comparison.

    ``solved`` is the rate over incidents that could be reduced (Wilson), ``runs`` the mean of
    per-incident pass rates (t over incidents); ``None`` without a valid investigation.
    ``invalid`` counts reasons; ``absent`` is what was planned and never started.
    """

    name: str
    solved: Interval | None
    solved_count: int
    incidents: int
    runs: Interval | None
    passes: int
    valid: int
    planned: int
    invalid: Mapping[str, int]
    absent: int
    cost: Cost
    behaviour: Behaviour
    served_models: tuple[str, ...] = ()

    @property
    def coverage(self) -> float:
        """Valid investigations as a share of those planned."""
        return self.valid / self.planned if self.planned else 0.0


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The table when everything missing is booked against the change."""

    fixed: int
    broken: int
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two arms on the same incidents, with everything that can be said from counts."""

    before: Side
    after: Side
    pairs: tuple[Pair, ...]
    p: float
    worst: WorstCase
    difference: Interval | None
    """Of solved incidents among the paired, Tango score interval."""
    run_difference: Interval | None
    """Of per-incident pass rates, interval clustered by incident."""
    repeats: int
    cells: Mapping[Cell, tuple[str, ...]] = field(default_factory=dict)
    across_models: bool = False
    """True when two models are compared on purpose."""

    def named(self, cell: Cell) -> tuple[str, ...]:
        """The incidents of one cell, by id."""
        return self.cells.get(cell, ())

    def count(self, cell: Cell) -> int:
        """How many incidents stand in one cell."""
        return len(self.named(cell))

    @property
    def paired(self) -> int:
        """Incidents that could be compared."""
        return len(self.pairs) - self.count("unpaired")

    @property
    def coverage(self) -> float:
        """The smaller coverage of the two arms."""
        return min(self.before.coverage, self.after.coverage)

    @property
    def same_model(self) -> bool:
        """False when a provider answered with another model, within an arm or between arms."""
        sides = (self.before.served_models, self.after.served_models)
        if self.across_models:
            return all(len(served) <= 1 for served in sides)
        return len({*sides[0], *sides[1]}) <= 1

    def outcome(self, min_coverage: float = 0.9) -> Outcome:
        """The word for this comparison alone, without looks and controls."""
        evidence = Evidence(
            self.count("fixed"),
            self.count("broken"),
            self.paired,
            self.coverage,
            same_model=self.same_model,
        )
        return outcome(evidence, min_coverage=min_coverage)


def tallies(played: Iterable[Played], incidents: Iterable[str], repeats: int) -> dict[str, Tally]:
    """Count passes and valid investigations per incident; unknown incidents are left out."""
    passes: Counter[str] = Counter()
    valid: Counter[str] = Counter()
    for one in played:
        if one.verdict.result != "invalid":
            valid[one.incident] += 1
            passes[one.incident] += one.verdict.result == "pass"
    over = [name for name in valid if valid[name] > repeats]
    if over:
        raise UsageError(
            f"'{min(over)}' has {valid[min(over)]} valid verdicts for {repeats} repeats",
            mend="Give each slot's first valid verdict only",
        )
    return {name: Tally(passes[name], valid[name], repeats) for name in incidents}


def worst_case(pairs: Iterable[Pair]) -> WorstCase:
    """Book each missing investigation as a pass of the old brain and a fail of the new one."""
    fixed = broken = 0
    for pair in pairs:
        missing = pair.before.planned - pair.before.valid
        before = 2 * (pair.before.passes + missing) > pair.before.planned
        after = 2 * pair.after.passes > pair.after.planned
        fixed += after and not before
        broken += before and not after
    return WorstCase(fixed, broken, worst_case_p(fixed, broken))


def compare_runs(
    before: Sequence[Played],
    after: Sequence[Played],
    incidents: Sequence[str],
    repeats: int,
    *,
    names: tuple[str, str] = ("before", "after"),
    repeats_after: int | None = None,
    across_models: bool = False,
    footprints: Footprints | None = None,
) -> Comparison:
    """Compare two arms on ``incidents``.

    ``before`` and ``after`` hold at most one outcome per slot (the first valid one, or the last
    invalid one). ``repeats_after`` is given when the second arm was planned with another number of
    repeats. Hand the same ``footprints`` to several comparisons of the same outcomes.
    """
    order = sorted(incidents)
    feet = footprints or Footprints()
    chosen = set(order)
    old = [one for one in before if one.incident in chosen]
    new = [one for one in after if one.incident in chosen]
    left = tallies(old, order, repeats)
    right = tallies(new, order, repeats if repeats_after is None else repeats_after)
    pairs = tuple(Pair(name, left[name], right[name]) for name in order)
    cells: dict[Cell, list[str]] = defaultdict(list)
    for pair in pairs:
        cells[pair.cell].append(pair.incident)
    fixed, broken = len(cells["fixed"]), len(cells["broken"])
    paired = len(pairs) - len(cells["unpaired"])
    rated = [(p.before.rate, p.after.rate) for p in pairs]
    both = [(a, b) for a, b in rated if a is not None and b is not None]
    return Comparison(
        before=_side(names[0], old, left, feet),
        after=_side(names[1], new, right, feet),
        pairs=pairs,
        p=mcnemar_exact(fixed, broken),
        worst=worst_case(pairs),
        difference=tango_interval(fixed, broken, paired) if paired else None,
        run_difference=(
            cluster_difference([a for a, _ in both], [b for _, b in both]) if both else None
        ),
        repeats=repeats,
        cells={name: tuple(ids) for name, ids in cells.items() if ids},
        across_models=across_models,
    )


def _side(
    name: str,
    played: Sequence[Played],
    counted: Mapping[str, Tally],
    footprints: Footprints,
) -> Side:
    reduced = [tally.solved for tally in counted.values() if tally.solved is not None]
    rates = [tally.rate for tally in counted.values() if tally.rate is not None]
    valid = [one for one in played if one.verdict.result != "invalid"]
    planned = sum(tally.planned for tally in counted.values())
    invalid = Counter(one.reason or "unknown" for one in played if one.verdict.result == "invalid")
    traces = [(one.incident, one.trace) for one in valid if one.trace is not None]
    measured = behaviour(footprints.of(incident, trace) for incident, trace in traces)
    return Side(
        name=name,
        solved=wilson(sum(reduced), len(reduced)) if reduced else None,
        solved_count=sum(reduced),
        incidents=len(counted),
        runs=cluster_rate(rates) if rates else None,
        passes=sum(tally.passes for tally in counted.values()),
        valid=len(valid),
        planned=planned,
        invalid=dict(sorted(invalid.items())),
        absent=max(0, planned - len(valid) - sum(invalid.values())),
        cost=cost([trace for _, trace in traces], measured.tool_calls),
        behaviour=measured,
        served_models=tuple(sorted({trace.served_model for _, trace in traces} - {""})),
    )


def require(
    comparison: Comparison, *, min_coverage: float = 0.9, max_broken: int | None = None
) -> None:
    """Let a pipeline stop here: harm (or more than ``max_broken`` broken) is ComparisonFailed.

    An indecisive comparison fails too: a gate that passes because nothing was measured is no gate.
    """
    word = comparison.outcome(min_coverage)
    broken = comparison.count("broken")
    if word == "harm" or (max_broken is not None and broken > max_broken):
        names = ", ".join(comparison.named("broken")[:5])
        raise ComparisonFailed(
            f"{broken} incidents broken, {comparison.count('fixed')} fixed "
            f"(p = {comparison.p:.2g}): {names}",
            where=f"{comparison.before.name} against {comparison.after.name}",
            mend="Read their traces with 'heldout run show'",
        )
    if word == "indecisive":
        raise ComparisonFailed(
            f"indecisive: coverage {comparison.coverage:.0%}, {comparison.paired} incidents paired",
            where=f"{comparison.before.name} against {comparison.after.name}",
            mend="Find why investigations are invalid, then run both again",
        )
