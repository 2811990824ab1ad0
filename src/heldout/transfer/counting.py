"""From one model's played arms to its column of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heldout.compare import Side, Tally
from heldout.compare.pairs import cell_of
from heldout.score import EvidenceClass, IncidentResult, Score
from heldout.stats import Evidence, adjusted_p, harm_verdict, mcnemar_exact, outcome
from heldout.transfer.lineup import BEFORE, SHARED
from heldout.transfer.table import Cell, Column, Word


@dataclass(frozen=True, slots=True)
class Played:
    """One model's job: results by incident and arm, and how sure they can be.

    ``looks`` is the number of the look, 0 on train; ``compared`` counts the tuned cells of the
    whole table, over which p is adjusted.
    """

    model: str
    arms: Mapping[str, str]
    brains: Mapping[str, str]
    incidents: Sequence[IncidentResult]
    sides: Mapping[str, Side]
    repeats: int
    evidence: EvidenceClass
    compared: int
    looks: int = 0
    min_coverage: float = 0.9
    harm_margin: float = 0.1

    @property
    def simulated(self) -> bool:
        """True for a program in the place of a model."""
        return self.evidence.model_class == "mechanism test"


def cells_of(played: Played) -> tuple[Cell, ...]:
    """Every row for one model, the shared brain first."""
    return tuple(_cell(played, owner, arm) for owner, arm in played.arms.items())


def _cell(played: Played, owner: str, arm: str) -> Cell:
    side = played.sides[arm]
    results = {True: _cells(played, arm, trap=True), False: _cells(played, arm, trap=False)}
    traps, controls = results[True], results[False]
    plain = Cell(
        owner=owner,
        model=played.model,
        brain=played.brains[arm],
        traps=len(traps),
        solved=tuple(name for name, (solved, _) in traps.items() if solved),
        unpaired=tuple(name for name, (_, cell) in traps.items() if cell == "unpaired"),
        controls=len(controls),
        controls_solved=sum(bool(solved) for solved, _ in controls.values()),
        coverage=side.coverage,
        tokens=side.cost.total_tokens,
        usd=side.cost.total_usd,
    )
    return plain if owner == SHARED else _held_against(played, plain, traps, controls, arm)


def _held_against(
    played: Played,
    plain: Cell,
    traps: Mapping[str, tuple[bool | None, str]],
    controls: Mapping[str, tuple[bool | None, str]],
    arm: str,
) -> Cell:
    """The cell with what it fixes and breaks against the shared brain."""
    fixed, broken = (_named(traps, cell) for cell in ("fixed", "broken"))
    calm_fixed, calm_broken = (len(_named(controls, cell)) for cell in ("fixed", "broken"))
    p = mcnemar_exact(len(fixed), len(broken))
    chances = played.compared * max(1, played.looks)
    paired = len(controls) - len(_named(controls, "unpaired"))
    evidence = Evidence(
        fixed=len(fixed),
        broken=len(broken),
        paired=len(traps) - len(plain.unpaired),
        coverage=min(played.sides[BEFORE].coverage, played.sides[arm].coverage),
        looks=chances,
        controls=harm_verdict(calm_fixed, calm_broken, paired, played.harm_margin),
        same_model=len({name for one in played.sides.values() for name in one.served_models}) <= 1,
    )
    return replace(
        plain,
        fixed=fixed,
        broken=broken,
        p=p,
        p_adjusted=adjusted_p(p, chances),
        word=_word(played, evidence),
        controls_fixed=calm_fixed,
        controls_broken=calm_broken,
    )


def _word(played: Played, evidence: Evidence) -> Word:
    """The word for one cell; on train there is none, for the brains were chosen by it."""
    if not played.looks:
        return ""
    word = outcome(evidence, min_coverage=played.min_coverage)
    return "mechanism shown" if word == "gain" and played.simulated else word


def _cells(played: Played, arm: str, *, trap: bool) -> dict[str, tuple[bool | None, str]]:
    """Whether each incident of one kind is solved in an arm, and its cell against ``before``."""
    found: dict[str, tuple[bool | None, str]] = {}
    for one in played.incidents:
        if one.trap == trap:
            before, after = (
                Tally(one.passes.get(name, 0), one.valid.get(name, 0), played.repeats).solved
                for name in (BEFORE, arm)
            )
            found[one.incident] = after, cell_of(before, after)
    return found


def _named(cells: Mapping[str, tuple[bool | None, str]], wanted: str) -> tuple[str, ...]:
    return tuple(name for name, (_, cell) in cells.items() if cell == wanted)


def column_of_score(score: Score, arms: Mapping[str, str], compared: int) -> Column:
    """The column that one finished score of the held-out half makes."""
    pinned = score.endpoint
    played = Played(
        model=score.model,
        arms=arms,
        brains=pinned["arms"],
        incidents=score.incidents,
        sides=score.sides,
        repeats=score.repeats,
        evidence=score.evidence,
        compared=compared,
        looks=score.looks.number,
        min_coverage=pinned["min_coverage"],
        harm_margin=pinned["harm_margin"],
    )
    return Column(
        model=score.model,
        evidence=score.evidence.sentence(),
        simulated=played.simulated,
        cells=cells_of(played),
        runs=score.runs,
        seconds=score.seconds,
        usd=score.usd,
        score=score.score,
        look=score.looks.number,
        look_budget=score.looks.budget,
        detectable=score.detectable.sentence(),
    )
