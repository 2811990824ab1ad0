"""What was measured, as a page: Markdown between two marks of docs/how-to/acceptance.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.acceptance.effects import (
    CLUSTERS,
    CORRELATIONS,
    EFFECTS,
    FALLS,
    FALSE_ACCEPTS,
    HELD,
    JOBS_OF,
    PASSING,
    POWER,
    TRIED,
    Effect,
)
from bench.acceptance.jobs import CONFIRMED, JobCell
from bench.figures import machine
from heldout.stats import Interval, wilson

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "acceptance.md"
BEGIN, END = "<!-- acceptance: written by python -m bench acceptance -->", "<!-- end -->"


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
            shown = [f"{_percent(one.share)}, {one.cost:.0f}" for one in row]
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
        f"| accepts that are false | one of {TRIED} without effect is accepted |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(cell.rule for cell in cells):
        for rho in CORRELATIONS:
            found = [(one, _one(cells, name, one.name, rho)) for one in EFFECTS]
            cost = sum(one.weight * cell.cost for one, cell in found)
            true = sum(one.weight * cell.share.value for one, cell in found if one.good)
            wrong = sum(one.weight * cell.share.value for one, cell in found if not one.good)
            none = _one(cells, name, "none", rho).share.value
            one_of = 1 - (1 - none) ** TRIED
            lines.append(
                f"| {name} | {rho:g} | {cost:.0f} | {cost / true:.0f} "
                f"| {100 * wrong / (true + wrong):.0f} % | {100 * one_of:.0f} % |"
            )
    return lines


@dataclass(frozen=True, slots=True)
class Measured:
    """All that is shown: single candidates, whole jobs, and falls of what passed by question."""

    cells: Sequence[Cell]
    jobs: Sequence[JobCell]
    nets: Sequence[tuple[str, list[tuple[Interval, float]]]]


def jobs_table(jobs: Sequence[JobCell]) -> list[str]:
    """How whole jobs end, by the way they are run."""
    ways = list(dict.fromkeys(cell.way for cell in jobs))
    lines = [
        f"Jobs of {TRIED} candidates, {len(jobs[0].ended)} of each: share that ends in a proposal "
        "(95 % interval); mean gain of what is proposed, points of the pass rate over the half; "
        "investigations.",
        "",
        f"| candidates | correlation | {' | '.join(ways)} |",
        "|---|---|" + "---|" * len(ways),
    ]
    for kind in JOBS_OF:
        for rho in CORRELATIONS:
            found = [
                next(one for one in jobs if (one.way, one.kind, one.rho) == (way, kind, rho))
                for way in ways
            ]
            shown = [f"{_percent(one.share)}; {_points(one.gain)}; {one.cost:.0f}" for one in found]
            lines.append(f"| {kind} | {rho:g} | {' | '.join(shown)} |")
    return lines


def net_table(nets: Sequence[tuple[str, list[tuple[Interval, float]]]]) -> list[str]:
    """How often a fall of what passed is let through."""
    falls = " | ".join(f"{100 * PASSING:.0f} to {100 * (PASSING - fall):.0f} %" for fall in FALLS)
    lines = [
        f"{HELD} solved incidents that all pass less often: share let through (95 % interval), "
        "investigations.",
        "",
        f"| question | {falls} |",
        "|---|" + "---|" * len(FALLS),
    ]
    for name, found in nets:
        shown = " | ".join(f"{_percent(let)}, {cost:.0f}" for let, cost in found)
        lines.append(f"| {name} | {shown} |")
    return lines


def verdicts(found: Measured, rule: str = "evidence") -> list[str]:
    """The goals and whether they are met."""
    lines = []
    for effect, what in (("none", "there is no effect"), ("none, moved", "incidents only move")):
        worst = max(_one(found.cells, rule, effect, rho).worst for rho in CORRELATIONS)
        lines.append(
            f"- False accepts where {what}: at most {100 * worst:.1f} % in any correlation and "
            f"cluster size (goal {100 * FALSE_ACCEPTS:.0f} %: {_met(worst <= FALSE_ACCEPTS)})."
        )
    for kind in ("none", "none, moved"):
        ended = [one for one in found.jobs if (one.way, one.kind) == (CONFIRMED, kind)]
        most = max(ended, key=lambda one: one.share.value)
        lines.append(
            f"- Jobs of {TRIED} candidates '{kind}' that end in a proposal: at most "
            f"{_percent(most.share)} in any correlation (goal {100 * FALSE_ACCEPTS:.0f} %: "
            f"{_met(most.share.value <= FALSE_ACCEPTS)})."
        )
    for rho in CORRELATIONS[1:]:
        cell = _one(found.cells, rule, "medium", rho)
        sizes = ", ".join(
            f"{100 * one / cell.draws:.0f} % of {size}"
            for one, size in zip(cell.accepted, CLUSTERS, strict=True)
        )
        lines.append(
            f"- Power for an edit that fixes 30 % of its cluster, correlation {rho:g}: "
            f"{_percent(cell.share)} (by cluster: {sizes}; goal {100 * POWER:.0f} %: "
            f"{_met(cell.share.value >= POWER)})."
        )
    return lines


def write_page(found: Measured) -> None:
    """Put the measured part between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    draws = found.cells[0].draws
    stamp = (
        f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}, `python -m bench acceptance`; {draws} "
        f"candidates for each of the cluster sizes {', '.join(map(str, CLUSTERS))}. Class of "
        "evidence: simulation of the rules alone, no model.*"
    )
    parts = (
        verdicts(found),
        effects_table(found.cells)[:-1],
        net_table(found.nets),
        jobs_table(found.jobs),
        price_table(found.cells),
    )
    body = [stamp, *(line for part in parts for line in ("", *part))]
    PAGE.write_text("\n".join([head + BEGIN, *body, END]) + tail, encoding="utf-8")


def _percent(share: Interval) -> str:
    return f"{100 * share.value:.1f} % ({100 * share.low:.1f}-{100 * share.high:.1f})"


def _points(gain: float) -> str:
    return "-" if math.isnan(gain) else f"{100 * gain:+.1f}"


def _one(cells: Sequence[Cell], rule: str, effect: str, rho: float) -> Cell:
    return next(one for one in cells if (one.rule, one.effect.name, one.rho) == (rule, effect, rho))


def _good() -> float:
    return sum(one.weight for one in EFFECTS if one.good)


def _met(met: bool) -> str:
    return "met" if met else "missed"
