"""From outcomes to a score: the primary comparison and the exploratory views beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heldout.compare import Comparison, Footprints, Pair, Side, compare_runs, tallies
from heldout.llm.names import ModelName
from heldout.run.plan import Outcome
from heldout.score.request import ALPHA
from heldout.score.result import (
    Breakdown,
    Controls,
    EvidenceClass,
    IncidentResult,
    Word,
)
from heldout.split import Case
from heldout.stats import (
    Evidence,
    adjusted_p,
    harm_upper_bound,
    harm_verdict,
    outcome,
)
from heldout.truth.specs import MATERIAL


@dataclass(frozen=True, slots=True)
class Material:
    """What the views are made from.

    ``outcomes`` are final ones by arm; ``faults`` names the fault of each held-out incident;
    ``train_faults``, ``train_families``, ``train_domains`` and ``train_traps`` are what the train
    half contains.
    """

    cases: Sequence[Case]
    outcomes: Mapping[str, Sequence[Outcome]]
    repeats: int
    faults: Mapping[str, str] = field(default_factory=dict)
    train_faults: frozenset[str] = frozenset()
    train_families: frozenset[str] = frozenset()
    train_domains: frozenset[str] = frozenset()
    train_traps: frozenset[str] = frozenset()
    footprints: Footprints = field(default_factory=Footprints)

    def ids(self, *, trap: bool) -> list[str]:
        """Incidents of one kind, by id."""
        return [case.incident.id for case in self.cases if case.is_trap == trap]

    def compare(self, incidents: Sequence[str], arm: str = "after") -> Comparison:
        """``before`` against ``arm`` on some incidents."""
        before, after = self.outcomes["before"], self.outcomes.get(arm, ())
        return compare_runs(
            before,
            after,
            incidents,
            self.repeats,
            names=("before", arm),
            footprints=self.footprints,
        )


def evidence_class(model: str, cases: Sequence[Case]) -> EvidenceClass:
    """The class of evidence: simulated or real model, and where the incidents come from."""
    origins = [case.origin for case in cases]
    return EvidenceClass(
        model=model,
        model_class="mechanism test" if ModelName.parse(model).is_simulated else "real model",
        own_generator=origins.count("simulated"),
        grafted=origins.count("overlay"),
        outside=origins.count("recorded"),
        reconstructed=origins.count("reconstructed"),
    )


def controls_of(comparison: Comparison | None, margin: float) -> Controls:
    """Whether the controls are shown unharmed; without controls nothing is shown."""
    if comparison is None:
        return Controls("not shown", 1.0, margin, 0, 0, 0)
    fixed, broken, n = comparison.count("fixed"), comparison.count("broken"), comparison.paired
    return Controls(
        verdict=harm_verdict(fixed, broken, n, margin),
        upper=harm_upper_bound(broken, n),
        margin=margin,
        fixed=fixed,
        broken=broken,
        paired=n,
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """The word a score ends with, the p that decided, and why in one sentence."""

    word: Word
    p_adjusted: float
    why: str


def decide(
    traps: Comparison,
    controls: Controls,
    sides: Mapping[str, Side],
    *,
    looks: int,
    min_coverage: float,
    simulated: bool,
) -> Decision:
    """Apply :func:`heldout.stats.outcome`; a simulated model's gain is a mechanism shown."""
    served = sorted({name for side in sides.values() for name in side.served_models})
    evidence = Evidence(
        fixed=traps.count("fixed"),
        broken=traps.count("broken"),
        paired=traps.paired,
        coverage=traps.coverage,
        looks=looks,
        controls=controls.verdict,
        same_model=len(served) <= 1,
    )
    word = outcome(evidence, min_coverage=min_coverage, alpha=ALPHA)
    p = adjusted_p(traps.p, looks)
    if word == "gain" and simulated:
        why = "The model is simulated, so this is a mechanism shown, not a gain."
        return Decision("mechanism shown", p, why)
    return Decision(word, p, _why(word, evidence, traps, controls, served, min_coverage))


def _why(
    word: Word,
    evidence: Evidence,
    traps: Comparison,
    controls: Controls,
    served: Sequence[str],
    min_coverage: float,
) -> str:
    if word == "indecisive":
        if not evidence.same_model:
            return f"More than one model answered: {', '.join(served)}."
        if evidence.coverage < min_coverage:
            return (
                f"Coverage is {100 * evidence.coverage:.0f} %, and "
                f"{100 * min_coverage:.0f} % is needed to decide."
            )
        return "No incident could be paired."
    if word == "harm":
        if controls.verdict == "harm":
            return controls.sentence()
        return "Significantly more incidents were broken than fixed."
    if word == "gain":
        return "More incidents were fixed than chance explains."
    net = traps.count("fixed") - traps.count("broken")
    if net <= 0:
        return "No more incidents were fixed than broken."
    return "The difference is within what chance explains at this size."


def breakdown(material: Material, pairs: Sequence[Pair]) -> tuple[Breakdown, ...]:
    """Traps by fault, family, domain and trap, seen in train or not, and those groups in sum."""
    by_id = {case.incident.id: case for case in material.cases}
    faults: dict[str, list[Pair]] = {}
    families: dict[str, list[Pair]] = {}
    domains: dict[str, list[Pair]] = {}
    traps: dict[str, list[Pair]] = {}
    sums: dict[tuple[str, bool], list[Pair]] = {}
    for pair in pairs:
        case = by_id[pair.incident]
        fault = material.faults.get(pair.incident) or case.family
        faults.setdefault(fault, []).append(pair)
        families.setdefault(case.family, []).append(pair)
        domains.setdefault(case.domain, []).append(pair)
        sums.setdefault(("fault seen", fault in material.train_faults), []).append(pair)
        sums.setdefault(("family seen", case.family in material.train_families), []).append(pair)
        for trap in case.traps:
            traps.setdefault(trap, []).append(pair)
        all_seen = set(case.traps) <= material.train_traps
        sums.setdefault(("trap seen", all_seen), []).append(pair)
    rows = [
        _row("fault", name, name in material.train_faults, faults[name]) for name in sorted(faults)
    ]
    rows += [
        _row("family", name, name in material.train_families, families[name])
        for name in sorted(families)
    ]
    rows += [
        _row("domain", name, name in material.train_domains, domains[name])
        for name in sorted(domains)
    ]
    rows += [
        _row("trap", name, name in material.train_traps, traps[name]) for name in sorted(traps)
    ]
    for (kind, seen), group in sorted(sums.items()):
        what = "every trap" if kind == "trap seen" else kind.split(" ", 1)[0]
        rows.append(_row(kind, f"{what} {'seen' if seen else 'not seen'} in train", seen, group))
    return tuple(rows)


def _row(kind: str, name: str, seen: bool, pairs: Sequence[Pair]) -> Breakdown:
    cells = [pair.cell for pair in pairs]
    return Breakdown(
        kind=kind,  # type: ignore[arg-type]
        name=name,
        seen_in_train=seen,
        incidents=len(pairs),
        paired=len(pairs) - cells.count("unpaired"),
        before=cells.count("both") + cells.count("broken"),
        after=cells.count("both") + cells.count("fixed"),
        fixed=cells.count("fixed"),
        broken=cells.count("broken"),
    )


def incident_results(
    material: Material, comparisons: Iterable[Comparison | None], fresh: Iterable[str]
) -> tuple[IncidentResult, ...]:
    """One row per incident: id and outcomes only, nothing of its alert, world or recipe."""
    cells = {
        pair.incident: pair.cell
        for comparison in comparisons
        if comparison is not None
        for pair in comparison.pairs
    }
    order = sorted(case.incident.id for case in material.cases)
    counted = {
        arm: tallies(played, order, material.repeats)
        for arm, played in sorted(material.outcomes.items())
    }
    trap = set(material.ids(trap=True))
    new = set(fresh)
    classes = {case.incident.id: MATERIAL[case.origin] for case in material.cases}
    return tuple(
        IncidentResult(
            incident=name,
            trap=name in trap,
            fresh=name in new,
            cell=cells.get(name, "unpaired"),
            passes={arm: counts[name].passes for arm, counts in counted.items()},
            valid={arm: counts[name].valid for arm, counts in counted.items()},
            material=classes[name],
        )
        for name in order
    )


def sides_of(material: Material) -> dict[str, Side]:
    """Every arm over every incident, controls included."""
    everything = sorted(case.incident.id for case in material.cases)
    sides: dict[str, Side] = {}
    first = [arm for arm in ("before", "after") if arm in material.outcomes]
    for arm in (*first, *(arm for arm in material.outcomes if arm not in first)):
        sides[arm] = material.compare(everything, arm).after
    return sides
