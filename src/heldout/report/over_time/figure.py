"""The looks as one picture: solved before and after, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout.report.figures import AFTER, BEFORE, MUTED, PALE, draw
from heldout.report.over_time.looks import Look
from heldout.report.rows import moment

MOST = 8
"""Columns that fit a page's width."""


def looks_figure(looks: Sequence[Look]) -> str:
    """A column for each of the newest finished looks, oldest first; empty with fewer than two."""
    done = [one for one in looks if one.result is not None][-MOST:]
    if len(done) < 2:
        return ""
    return draw(
        "looks", 8.6, 2.4, lambda axes: _paint(axes, done),
        "Share of held-out traps solved before and after, at each look",
    )  # fmt: skip


def _paint(axes: Any, looks: Sequence[Look]) -> None:
    for x, look in enumerate(looks):
        assert look.result is not None
        traps = look.result.traps
        for shift, side, colour in ((-0.09, traps.before, BEFORE), (0.09, traps.after, AFTER)):
            rate = side.solved
            if rate is None:
                continue
            axes.plot(
                [x + shift] * 2, [100 * rate.low, 100 * rate.high], color=colour, linewidth=4.5,
                alpha=0.32, solid_capstyle="butt",
            )  # fmt: skip
            axes.plot([x + shift], [100 * rate.value], "o", color=colour, markersize=7, zorder=4)
            axes.annotate(
                f"{side.solved_count}", (x + shift, 100 * rate.value),
                xytext=(-6 if shift < 0 else 6, 0), textcoords="offset points",
                ha="right" if shift < 0 else "left", va="center", color=MUTED,
            )  # fmt: skip
        if look.floor is not None and look.floor.traps:
            y = 100 * look.floor.traps_solved / look.floor.traps
            axes.plot([x - 0.22, x + 0.22], [y, y], color=MUTED, linewidth=1, clip_on=False)
    names = [
        f"look {one.result.looks.number}\n{moment(one.started)[:10]}"
        for one in looks
        if one.result is not None
    ]
    axes.set_xticks(range(len(looks)), names)
    axes.set_xlim(-0.5, max(len(looks), 4) - 0.5)
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 50, 100], ["0 %", "50 %", "100 %"])
    axes.tick_params(length=0)
    axes.grid(axis="y", color=PALE, linewidth=1)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
