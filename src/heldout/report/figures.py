"""The report's pictures as inline SVG: no script, no outside font, the same bytes every time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from heldout.report.data import Tuning
from heldout.score import IncidentResult, Score
from heldout.stats import Interval, wilson
from heldout.terminal import visible

INK, MUTED, LINE, PALE = "#1f2a37", "#667180", "#d5dae1", "#eef1f4"
BEFORE, AFTER = "#8d99a8", "#0f6e84"
FIXED, BROKEN = "#2f7d4f", "#b4451f"
_SHARES = {0: "#ffffff", 1: "#c9e0e4", 2: "#7fb5bf", 3: "#2f8a9c"}

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.parse_math": False,
}


def draw(name: str, width: float, height: float, paint: Callable[[Any], None], label: str) -> str:
    """Paint on one pair of axes and return the SVG element. Sizes in inches of 72 pt.

    ``name`` salts the ids inside, so that several pictures share a page; ``label`` is the text for
    people who cannot see it.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure.add_subplot())
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _inline(out.getvalue(), label)


def _inline(svg: str, label: str) -> str:
    """Only the element: no prolog, no metadata, no ids that nothing refers to, width by CSS."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    used = set(re.findall(r"#([A-Za-z][\w-]*)", svg))
    svg = re.sub(
        r' id="([^"]+)"', lambda found: found.group() if found.group(1) in used else "", svg
    )
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--sans)", svg)
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", svg, count=1)
    svg = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", svg, count=1)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{_attribute(label)}" ', 1)


def _attribute(text: str) -> str:
    import html

    return html.escape(text, quote=True)


def rates_figure(score: Score) -> str:
    """Solved rates with their intervals, every arm, and the floors as thin marks."""
    rows: list[tuple[str, Interval | None, str, str]] = []
    traps = score.traps
    rows.append(("traps, before", traps.before.solved, BEFORE, _of(traps.before)))
    rows.append(("traps, after", traps.after.solved, AFTER, _of(traps.after)))
    for arm, comparison in sorted(score.arms.items()):
        label = {"noop": "traps, before once more"}.get(arm, f"traps, {arm}")
        rows.append((label, comparison.after.solved, BEFORE, _of(comparison.after)))
    if score.controls is not None:
        rows.append(
            ("controls, before", score.controls.before.solved, BEFORE, _of(score.controls.before))
        )
        rows.append(
            ("controls, after", score.controls.after.solved, AFTER, _of(score.controls.after))
        )
    for floor in score.floors:
        rate = wilson(floor.traps_solved, floor.traps) if floor.traps else None
        rows.append((f"no model: {floor.name}", rate, LINE, f"{floor.traps_solved}/{floor.traps}"))
    return draw(
        "rates",
        8.6,
        0.6 + 0.27 * len(rows),
        lambda axes: _paint_rates(axes, rows),
        "Share of incidents solved, with 95 % intervals",
    )


def _of(side: Any) -> str:
    return f"{side.solved_count}/{side.incidents}"


def _paint_rates(axes: Any, rows: Sequence[tuple[str, Interval | None, str, str]]) -> None:
    for place, (_, rate, colour, text) in enumerate(rows):
        y = len(rows) - 1 - place
        if rate is not None:
            floor = colour == LINE
            tone = MUTED if floor else colour
            axes.plot(
                [100 * rate.low, 100 * rate.high],
                [y, y],
                color=LINE if floor else tone,
                linewidth=1.2 if floor else 4.5,
                alpha=1.0 if floor else 0.32,
                solid_capstyle="butt",
            )
            axes.plot(
                [100 * rate.value], [y], "|" if floor else "o", color=tone, markersize=7,
                markeredgewidth=1.6 if floor else 0, clip_on=False, zorder=4,
            )  # fmt: skip
        axes.text(104, y, text, va="center", ha="left", color=MUTED, clip_on=False)
    axes.set_yticks(range(len(rows)), [row[0] for row in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.tick_params(length=0)
    axes.grid(axis="x", color=PALE, linewidth=1)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


_ORDER = {"fixed": 0, "both": 1, "neither": 2, "broken": 3, "unpaired": 4}
_PER_BLOCK = 40


def incidents_figure(score: Score) -> str:
    """One column per held-out incident, one row per arm, darker the more repeats passed."""
    ordered = sorted(
        score.incidents, key=lambda one: (not one.trap, _ORDER.get(one.cell, 9), one.incident)
    )
    arms = [arm for arm in ("before", "after", "noop", "placebo", "format") if arm in score.sides]
    blocks = [ordered[i : i + _PER_BLOCK] for i in range(0, len(ordered), _PER_BLOCK)]
    names = max(len(visible(one.incident, 24)) for one in ordered)
    pitch = len(arms) + 1.7 + 0.21 * names
    height = len(blocks) * pitch * 0.26
    return draw(
        "incidents",
        8.6,
        height,
        lambda axes: _paint_incidents(axes, blocks, arms, pitch, score.repeats),
        "Every held-out incident before and after: how many repeats were solved",
    )


def _paint_incidents(
    axes: Any,
    blocks: Sequence[Sequence[IncidentResult]],
    arms: Sequence[str],
    pitch: float,
    repeats: int,
) -> None:
    from matplotlib.patches import Rectangle

    columns = max(len(block) for block in blocks)
    labels: list[tuple[float, str]] = []
    for number, block in enumerate(blocks):
        top = -number * pitch
        for row, arm in enumerate(arms):
            y = top - row
            labels.append((y, {"noop": "before again"}.get(arm, arm)))
            for x, one in enumerate(block):
                valid, passes = one.valid.get(arm, 0), one.passes.get(arm, 0)
                gap = 0.35 if _after_traps(block, x) else 0.0
                box = (x + gap - 0.44, y - 0.42)
                colour = _shade(passes, valid) if valid else "none"
                axes.add_patch(
                    Rectangle(box, 0.88, 0.84, facecolor=colour, edgecolor=LINE, linewidth=0.8,
                              hatch=None if valid else "////")
                )  # fmt: skip
                if repeats > 1 and valid and columns <= 30:
                    tone = "#ffffff" if passes / valid > 0.6 else MUTED
                    axes.text(x + gap, y, str(passes), ha="center", va="center", color=tone,
                              fontsize=8)  # fmt: skip
        for x, one in enumerate(block):
            gap = 0.35 if _after_traps(block, x) else 0.0
            mark = {"fixed": ("\u25b2", FIXED), "broken": ("\u25bc", BROKEN)}.get(one.cell)
            if one.cell == "unpaired":
                mark = ("?", MUTED)
            if mark:
                axes.text(x + gap, top + 0.95, mark[0], ha="center", va="center", color=mark[1])
            axes.text(
                x + gap, top - len(arms) + 0.3, visible(one.incident, 24), rotation=90,
                ha="center", va="top", fontsize=6.5, color=INK if one.trap else MUTED,
            )  # fmt: skip
    axes.set_yticks([y for y, _ in labels], [name for _, name in labels])
    axes.set_xlim(-0.6, max(columns, 12) + 0.2)
    axes.set_ylim(1.4 - len(blocks) * pitch, 1.4)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _after_traps(block: Sequence[IncidentResult], x: int) -> bool:
    """Controls stand a little apart from the traps before them."""
    return not block[x].trap and any(one.trap for one in block)


def _shade(passes: int, valid: int) -> str:
    return _SHARES[0 if passes == 0 else 3 if passes == valid else 2 if 2 * passes > valid else 1]


def course_figure(tuning: Tuning) -> str:
    """Train incidents solved after each accepted revision."""
    points = tuning.course
    return draw(
        "course",
        8.6,
        2.0,
        lambda axes: _paint_course(axes, tuning),
        f"Train incidents solved over {len(points)} measurements",
    )


def _paint_course(axes: Any, tuning: Tuning) -> None:
    points = tuning.course
    steps, solved = [p.step for p in points], [p.solved for p in points]
    total = max((p.total for p in points), default=0)
    axes.fill_between(steps, solved, color=AFTER, alpha=0.10, linewidth=0)
    axes.plot(steps, solved, color=AFTER, linewidth=2, marker="o", markersize=6)
    for point in points:
        axes.annotate(
            f"{point.solved}", (point.step, point.solved), textcoords="offset points",
            xytext=(0, 8), ha="center", color=INK, annotation_clip=False,
        )  # fmt: skip
    axes.axhline(total, color=LINE, linewidth=1, linestyle=(0, (4, 3)))
    names = ["start", *(f"revision {n}" for n in range(1, len(points)))]
    axes.set_xticks(steps, names)
    axes.set_ylim(0, total * 1.18 + 0.5)
    axes.set_xlim(-0.35, max(steps, default=0) + 0.35)
    axes.set_yticks([0, total])
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)


def cost_figure(tuning: Tuning, score: Score | None) -> str:
    """Tokens and seconds by stage: where the job's money and time went."""
    stages = list(tuning.stages)
    rows = [(stage.name, stage.tokens) for stage in stages if stage.tokens]
    if score is not None and not any(name == "score" for name, _ in rows):
        tokens = sum(side.cost.total_tokens for side in score.sides.values())
        rows.append(("score", tokens))
    return draw(
        "cost",
        8.6,
        0.45 + 0.3 * len(rows),
        lambda axes: _paint_cost(axes, rows),
        "Tokens by stage",
    )


def _paint_cost(axes: Any, rows: Sequence[tuple[str, int]]) -> None:
    most = max((tokens for _, tokens in rows), default=1)
    for place, (_, tokens) in enumerate(rows):
        y = len(rows) - 1 - place
        axes.barh(y, tokens, height=0.55, color=AFTER, alpha=0.55)
        axes.text(tokens + most * 0.012, y, f"{tokens:,}".replace(",", "\u202f"), va="center",
                  color=MUTED)  # fmt: skip
    axes.set_yticks(range(len(rows)), [name for name, _ in reversed(rows)])
    axes.set_xlim(0, most * 1.15)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
