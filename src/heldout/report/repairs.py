"""A page that compares agents and models over tasks of the repair environment.

Made from trajectories. Grades stand as the rows say; ``heldout verify`` proves them. A row whose
seal does not fit is left out and counted, one without a grade counts as neither good nor bad.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

import heldout
from heldout.errors import SplitViolation, UsageError
from heldout.markup import templates
from heldout.repair.canaries import CANARIES, ORACLE_FLOOR
from heldout.repair.grade import REPORT_ONLY, WEIGHTS
from heldout.repair.tasks import task
from heldout.repair.trajectory import Trajectory, lines_of, read
from heldout.report.figures import AFTER, INK, LINE, MUTED, draw
from heldout.report.saving import write_page
from heldout.stats import Interval, cluster_rate
from heldout.terminal import visible


@dataclass(frozen=True, slots=True)
class Group:
    """One agent with one model and brain: its rows of one version of the environment."""

    label: str
    rows: tuple[Trajectory, ...]

    @property
    def scored(self) -> tuple[Trajectory, ...]:
        """Rows with a grade."""
        return tuple(one for one in self.rows if one.score is not None)

    @property
    def grade(self) -> Interval:
        """Mean grade. Variants of one template are one cluster, as repeats of a task are."""
        return self._rate(lambda row: row.score or 0.0)

    @property
    def repaired(self) -> Interval:
        """Share repaired, the same way."""
        return self._rate(lambda row: float(row.grade.get("repaired") is True))

    def _rate(self, value: Callable[[Trajectory], float]) -> Interval:
        by_template: dict[str, list[float]] = {}
        for name in self.tasks:
            found = by_template.setdefault(task(name).template.name, [])
            found.append(_mean([value(one) for one in self._of(name)]))
        return cluster_rate([_mean(one) for one in by_template.values()])

    @property
    def templates(self) -> int:
        """How many templates its tasks are variants of: as many clusters an interval has."""
        return len({task(name).template.name for name in self.tasks})

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks with a grade, in order."""
        return tuple(sorted({one.task for one in self.scored}))

    def on(self, name: str) -> float | None:
        """Mean grade on one task, None where it has none."""
        found = self._of(name)
        return math.fsum(one.score or 0.0 for one in found) / len(found) if found else None

    def part(self, name: str) -> float:
        """Mean of one part of the grade."""
        return _mean([float(one.grade.get("parts", {}).get(name, 0.0)) for one in self.scored])

    @property
    def steps(self) -> float:
        """Mean steps of an episode."""
        return _mean([len(one.steps) for one in self.scored])

    @property
    def minutes(self) -> float:
        """Mean simulated minutes of an episode."""
        return _mean([one.steps[-1].minute if one.steps else 0.0 for one in self.scored])

    @property
    def usd(self) -> float | None:
        """Dollars of all rows, None where any price is unknown."""
        prices = [one.provenance.usd for one in self.rows]
        return None if None in prices else math.fsum(one or 0.0 for one in prices)

    @property
    def tokens(self) -> int | None:
        """Tokens of all rows, None where any count is unknown."""
        counts = [one.provenance.tokens for one in self.rows]
        return None if None in counts else sum(one or 0 for one in counts)

    def _of(self, name: str) -> list[Trajectory]:
        return [one for one in self.scored if one.task == name]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything on the page; ``left_out`` says how many lines were no sound rows, by reason."""

    half: str
    groups: tuple[Group, ...]
    tasks: tuple[str, ...]
    left_out: dict[str, int]
    versions: tuple[str, ...]

    @property
    def shared(self) -> int:
        """Tasks that every group has a grade on: only over these do means compare."""
        return sum(all(name in one.tasks for one in self.groups) for name in self.tasks)


def gather_repairs(files: Sequence[Path]) -> Page:
    """Read files of trajectories. Rows of both halves on one page are refused."""
    rows, left_out = [], dict[str, int]()
    for path in files:
        for _, line in lines_of(path):
            try:
                row = read(line)
                known = task(row.task)
            except UsageError:
                left_out["no trajectory"] = left_out.get("no trajectory", 0) + 1
                continue
            if row.seal != row.proper_seal() or row.half != known.half:
                left_out["altered"] = left_out.get("altered", 0) + 1
                continue
            rows.append(row)
    if not rows:
        raise UsageError("no sound trajectory is in these files", mend="See 'heldout verify'")
    halves = {one.half for one in rows}
    if len(halves) > 1:
        raise SplitViolation(
            "these files hold tasks of both halves, which never stand in one number",
            mend="Give files of one half",
        )
    names: dict[str, list[Trajectory]] = {}
    for row in rows:
        names.setdefault(_label(row), []).append(row)
    groups = [Group(label, tuple(found)) for label, found in names.items()]
    groups.sort(key=lambda one: (-(one.grade.value if one.tasks else -1.0), one.label))
    return Page(
        half=halves.pop(),
        groups=tuple(groups),
        tasks=tuple(sorted({one.task for one in rows})),
        left_out=left_out,
        versions=tuple(sorted({one.environment for one in rows})),
    )


def _label(row: Trajectory) -> str:
    said = row.provenance
    words = [said.agent or "unnamed", said.model, said.brain[:8], "pair" * (row.mode == "pair")]
    return " \N{MIDDLE DOT} ".join(one for one in words if one)


def save_repairs(page: Page, directory: Path) -> Path:
    """Write the page and return its path; the same rows give the same file."""
    text = render_repairs(page)
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return write_page(directory / f"repairs-{mark}.html", text)


def render_repairs(page: Page) -> str:
    """The whole page."""
    return (
        _environment()
        .get_template("repairs.html.j2")
        .render(
            p=page,
            parts=tuple(WEIGHTS),
            figure=Markup(_figure(page)),
            grid=_grid(page),
            canaries=_canaries(),
            highest=max(one.ceiling for one in CANARIES if one.guard not in _REPAIRED),
            floor=ORACLE_FLOOR,
            version=heldout.__version__,
        )
    )


_REPAIRED = frozenset({"hint ceiling", "time", "focus"})
"""Guards of canaries that do repair, and lose something else."""


def _figure(page: Page) -> str:
    groups = [one for one in page.groups if one.tasks]
    return draw(
        "repairs",
        8.6,
        0.9 + 0.32 * len(groups),
        lambda axes: _paint(axes, groups),
        "Mean grade of each agent with its 95 % interval, and what no repair is worth at most",
    )


def _paint(axes: Any, groups: Sequence[Group]) -> None:
    axes.axvspan(0, REPORT_ONLY, color=LINE, alpha=0.35, linewidth=0)
    axes.axvline(ORACLE_FLOOR, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
    for place, group in enumerate(groups):
        y, rate = len(groups) - 1 - place, group.grade
        axes.plot([rate.low, rate.high], [y, y], color=AFTER, linewidth=4.5, alpha=0.32,
                  solid_capstyle="butt")  # fmt: skip
        dots = [group.on(name) or 0.0 for name in group.tasks]
        axes.plot(dots, [y - 0.24] * len(dots), "|", color=MUTED, markersize=5, alpha=0.55)
        axes.plot([rate.value], [y], "o", color=AFTER, markersize=5.5)
    axes.set_yticks(range(len(groups)), [visible(one.label, 60) for one in reversed(groups)])
    axes.set_ylim(-0.6, len(groups) - 0.4)
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("grade")
    axes.tick_params(axis="y", length=0, labelcolor=INK)


def _grid(page: Page) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each task, by group: its mean grade and a tone."""
    rows = []
    for name in page.tasks:
        cells = []
        for group in page.groups:
            value = group.on(name)
            tone = "" if value is None else "good-text" if value > REPORT_ONLY else "bad-text"
            cells.append(("\N{EN DASH}" if value is None else f"{value:.2f}", tone))
        rows.append((name, cells))
    return rows


def _canaries() -> list[tuple[str, str, str, str]]:
    return [(one.name, one.tries, one.guard, f"{one.ceiling:.2f}") for one in CANARIES]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found) if found else math.nan


def repairs_text(page: Page) -> str:
    """The table as text."""
    lines = [f"{page.half} half, {len(page.tasks)} tasks, {page.shared} played by all"]
    for one in page.groups:
        if not one.tasks:
            lines.append(f"{one.label}: nothing scored")
            continue
        rate = one.grade
        unscored = len(one.rows) - len(one.scored)
        lines.append(
            f"{one.label}: grade {rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}], "
            f"{one.repaired.value:.0%} repaired, {len(one.tasks)} tasks, "
            f"{one.steps:.1f} steps, {one.minutes:.0f} min, {unscored} unscored"
        )
    lines += [f"left out: {count} {why}" for why, count in sorted(page.left_out.items())]
    return "\n".join(lines)


@cache
def _environment() -> jinja2.Environment:
    return templates(Path(__file__).parent / "templates", visible=visible)
