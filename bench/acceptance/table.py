"""What was measured, as a page: Markdown between two marks of docs/how-to/acceptance.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.acceptance.effects import CLUSTERS, CORRELATIONS, EFFECTS, FALSE_ACCEPTS, POWER, Effect
from bench.figures import machine
from heldout.stats import Interval, wilson

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "acceptance.md"
BEGIN, END = "<!-- acceptance: written by python -m bench acceptance -->", "<!-- end -->"
JOB = 16
"""Candidates of a job, for the chance that one without effect is among the accepted."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One rule on one effect and correlation; counts and investigations by cluster size."""

    rule: str
    effect: Effect
    rho: float
    draws: int
    accepted: tuple[int, ...]
    costs: tuple[int, ...]

    @property
    def share(self) -> Interval:
        """Accepted candidates over all cluster sizes."""
        return wilson(sum(self.accepted), self.draws * len(CLUSTERS))

    @property
    def worst(self) -> float:
        """The largest share of a cluster size."""
        return max(self.accepted) / self.draws

    @property
    def cost(self) -> float:
        """Investigations of one candidate, over all cluster sizes."""
        return sum(self.costs) / (self.draws * len(CLUSTERS))

    def line(self) -> str:
        """For the terminal."""
        sizes = " ".join(f"{one / self.draws:.3f}" for one in self.accepted)
        return (
            f"{self.rho:.1f}  {self.effect.name:18} {self.rule:28} accepted {self.share.value:.3f}"
            f" ({sizes})  {self.cost:5.0f} investigations"
        )


def effects_table(cells: Sequence[Cell]) -> list[str]:
    """Accepted share with its interval and the cost of a candidate, by rule."""
    names = list(dict.fromkeys(cell.rule for cell in cells))
    lines = []
    for rho in CORRELATIONS:
        lines += [
            f"Correlation of repeats {rho:g}: share accepted (95 % interval), investigations of a "
            "candidate.",
            "",
            f"| effect | should be | {' | '.join(names)} |",
            "|---|---|" + "---|" * len(names),
        ]
        for effect in EFFECTS:
            row = [_one(cells, name, effect.name, rho) for name in names]
            shown = [
                f"{100 * one.share.value:.1f} % ({100 * one.share.low:.1f}-"
                f"{100 * one.share.high:.1f}), {one.cost:.0f}"
                for one in row
            ]
            wanted = "accepted" if effect.good else "rejected"
            lines.append(f"| {effect.name} | {wanted} | {' | '.join(shown)} |")
        lines.append("")
    return lines


def price_table(cells: Sequence[Cell]) -> list[str]:
    """What a job pays, over the committed mix of candidates."""
    lines = [
        f"Over a job's mix of candidates (good ones {100 * _good():.0f} %):",
        "",
        "| rule | correlation | investigations per candidate | per true accept "
        f"| accepts that are false | one of {JOB} without effect is accepted |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(cell.rule for cell in cells):
        for rho in CORRELATIONS:
            found = [(one, _one(cells, name, one.name, rho)) for one in EFFECTS]
            cost = sum(one.weight * cell.cost for one, cell in found)
            true = sum(one.weight * cell.share.value for one, cell in found if one.good)
            wrong = sum(one.weight * cell.share.value for one, cell in found if not one.good)
            none = _one(cells, name, "none", rho).share.value
            lines.append(
                f"| {name} | {rho:g} | {cost:.0f} | {cost / true:.0f} "
                f"| {100 * wrong / (true + wrong):.0f} % | {100 * (1 - (1 - none) ** JOB):.0f} % |"
            )
    return lines


def verdicts(cells: Sequence[Cell], rule: str = "evidence") -> list[str]:
    """The goals and whether they are met."""
    none = [_one(cells, rule, "none", rho) for rho in CORRELATIONS]
    worst = max(cell.worst for cell in none)
    lines = [
        f"- False accepts where there is no effect: at most {100 * worst:.1f} % in any correlation "
        f"and cluster size (goal {100 * FALSE_ACCEPTS:.0f} %: {_met(worst <= FALSE_ACCEPTS)})."
    ]
    for rho in CORRELATIONS[1:]:
        cell = _one(cells, rule, "medium", rho)
        sizes = ", ".join(
            f"{100 * one / cell.draws:.0f} % of {size}"
            for one, size in zip(cell.accepted, CLUSTERS, strict=True)
        )
        lines.append(
            f"- Power for an edit that fixes 30 % of its cluster, correlation {rho:g}: "
            f"{100 * cell.share.value:.0f} % (by cluster: {sizes}; goal {100 * POWER:.0f} %: "
            f"{_met(cell.share.value >= POWER)})."
        )
    return lines


def write_page(cells: Sequence[Cell]) -> None:
    """Put the measured part between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    draws = cells[0].draws
    stamp = (
        f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}, `python -m bench acceptance`; {draws} "
        f"candidates for each of the cluster sizes {', '.join(map(str, CLUSTERS))}. Class of "
        "evidence: simulation of the rules alone, no model.*"
    )
    body = [stamp, "", *verdicts(cells), "", *effects_table(cells), *price_table(cells)]
    PAGE.write_text("\n".join([head + BEGIN, *body, END]) + tail, encoding="utf-8")


def _one(cells: Sequence[Cell], rule: str, effect: str, rho: float) -> Cell:
    return next(one for one in cells if (one.rule, one.effect.name, one.rho) == (rule, effect, rho))


def _good() -> float:
    return sum(one.weight for one in EFFECTS if one.good)


def _met(met: bool) -> str:
    return "met" if met else "missed"
