"""What is compared, and what was measured, as a part of docs/how-to/tuning.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Literal

from bench.figures import machine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "tuning.md"
BEGIN, END = "<!-- efficiency: written by python -m bench efficiency -->", "<!-- end -->"
SET = "demo"
SEEDS = (1, 2, 3, 4, 5)
GOAL = 0.5
"""Of the investigations of ``gepa`` for the same gain, fixed before anything was measured."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One row: a job of a strategy with its settings, or (``of``) a view of another row's job."""

    name: str
    strategy: Literal["reflect", "gepa", "blind"]
    settings: str = ""
    of: str = ""


ALONE = "gepa"
"""The row whose first search is also shown without the acceptance that follows it."""
ARMS = (
    Arm("reflect", "reflect"),
    Arm("reflect, clusters = 3", "reflect", "clusters = 3"),
    Arm("gepa", "gepa"),
    Arm("gepa, search alone", "gepa", of=ALONE),
    Arm("blind", "blind"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One row at one seed. ``played``: investigations until train was saturated or the end;
    ``solved``: of train, as last seen; ``before``, ``after``, ``fixed``, ``broken``: held-out traps
    of ``traps``."""

    arm: str
    seed: int
    status: str
    played: int
    confirming: int
    solved: tuple[int, int]
    before: int = 0
    after: int = 0
    fixed: int = 0
    broken: int = 0
    traps: int = 0

    def gained(self, before: int, after: int, fixed: int, broken: int, traps: int) -> Measured:
        """The same with what was seen on the held-out half."""
        return replace(self, before=before, after=after, fixed=fixed, broken=broken, traps=traps)

    @property
    def net(self) -> int:
        """Held-out traps fixed, less those broken."""
        return self.fixed - self.broken

    def line(self) -> str:
        """For the terminal."""
        return (
            f"seed {self.seed}  {self.arm:24} {self.status:12} train {self.solved[0]} of "
            f"{self.solved[1]}  {self.played:4} investigations, {self.confirming} to confirm  "
            f"held-out {self.before} -> {self.after} of {self.traps}, "
            f"{self.fixed} fixed, {self.broken} broken"
        )


def table(found: Sequence[Measured]) -> list[str]:
    """A row for every arm: medians over seeds, with the range."""
    lines = [
        "| strategy | ended | train solved | investigations until then | to confirm | "
        "held-out traps solved | fixed / broken | investigations per net fix |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for arm in ARMS:
        rows = [one for one in found if one.arm == arm.name]
        if not rows:
            continue
        fixed, broken = (_shown(rows, pick) for pick in (lambda r: r.fixed, lambda r: r.broken))
        ended = Counter(row.status for row in rows if row.status)
        train = f"{_shown(rows, lambda r: r.solved[0])} of {rows[0].solved[1]}"
        after = _shown(rows, lambda r: r.after)
        lines.append(
            f"| {arm.name} | {', '.join(f'{n} {name}' for name, n in ended.most_common()) or '-'} "
            f"| {train} | {_shown(rows, lambda r: r.played)} "
            f"| {_shown(rows, lambda r: r.confirming) if ended else '-'} "
            f"| {_shown(rows, lambda r: r.before)} → {after} of {rows[0].traps} "
            f"| {fixed} / {broken} | {_price(rows)} |"
        )
    return lines


def _shown(rows: Sequence[Measured], pick: Callable[[Measured], int]) -> str:
    """A median with its range where there is one."""
    values = sorted(pick(row) for row in rows)
    middle = f"{median(values):g}"
    return middle if values[0] == values[-1] else f"{middle} ({values[0]}-{values[-1]})"


def _price(rows: Sequence[Measured]) -> str:
    """All investigations over all net fixes; nothing to divide by is said."""
    net = sum(row.net for row in rows)
    return f"{sum(row.played for row in rows) / net:.0f}" if net > 0 else "nothing fixed"


def goal(found: Sequence[Measured]) -> list[str]:
    """Whether ``reflect`` does with half of what ``gepa`` needs, by either way to count that."""
    lines = []
    for mine in (arm.name for arm in ARMS if arm.strategy == "reflect"):
        for theirs in ("gepa", "gepa, search alone"):
            if not {mine, theirs} <= {row.arm for row in found}:
                continue
            ours, other = ([row for row in found if row.arm == name] for name in (mine, theirs))
            paid = median(row.played for row in ours) / median(row.played for row in other)
            gain = (median(row.net for row in ours), median(row.net for row in other))
            met = paid <= GOAL and gain[0] >= gain[1]
            lines.append(
                f"- `{mine}` against `{theirs}`: {paid:.2f} of its investigations, net fixes "
                f"{gain[0]:g} against {gain[1]:g} (goal {GOAL:g} for the same gain: "
                f"{'met' if met else 'missed'})."
            )
    return lines


def write_page(found: Sequence[Measured]) -> None:
    """Rewrite the part of the page between its marks."""
    seeds = sorted({one.seed for one in found})
    command = "bench efficiency" if len(seeds) == len(SEEDS) else f"bench.efficiency {len(seeds)}"
    head = (
        f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}, `python -m {command}`; set `{SET}`, "
        f"sim/anchored@low, sim/proposer, seeds {seeds[0]}-{seeds[-1]}; median (range). Class of "
        "evidence: mechanism test (simulated models, own generator).*"
    )
    text = "\n".join([BEGIN, head, "", *table(found), "", *goal(found), END])
    page = PAGE.read_text(encoding="utf-8")
    start, end = page.index(BEGIN), page.index(END) + len(END)
    PAGE.write_text(page[:start] + text + page[end:], encoding="utf-8")
