"""How an organisation changes things: how much of what, when, by whom, through which door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from heldout.simulate.rhythm import USUAL, Rhythm
from heldout.simulate.streams import stream

MIX: Mapping[str, tuple[float, float]] = {
    "pod": (0.30, 0.45), "scale": (0.09, 0.17), "node": (0.06, 0.11), "deploy": (0.10, 0.20),
    "config": (0.04, 0.08), "pr_merge": (0.06, 0.10), "iac_apply": (0.03, 0.07),
    "cloud_api": (0.03, 0.06), "secret": (0.007, 0.018), "certificate": (0.005, 0.012),
    "flag": (0.008, 0.02),
}  # fmt: skip
"""Least and most of each type's share among a world's change events."""


@dataclass(frozen=True, slots=True)
class Habits:
    """``zipf`` is how unevenly changes fall on things, ``pr_coverage`` the share of changes to
    settings and infrastructure that went through a pull request, ``events`` how many there are.
    """

    rhythm: Rhythm = USUAL
    zipf: float = 0.9
    pr_coverage: float = 0.85
    events: int = 7000
    mix: Mapping[str, float] = field(
        default_factory=lambda: {name: (low + high) / 2 for name, (low, high) in MIX.items()}
    )


def draw_habits(seed: int, knobs: Mapping[str, float | int | str]) -> Habits:
    """The habits for a seed and the knobs ``pr_coverage`` and ``events``."""
    rng = stream(seed, "habits", "rhythm")
    clock = bool(rng.random() < 0.2)
    rhythm = Rhythm(
        office=0.932 + 0.033 * float(rng.random()),
        weekend=(0.045 + 0.025 * float(rng.random())) if clock else 0.022 * float(rng.random()),
        friday=0.58 + 0.24 * float(rng.random()),
        round_the_clock=clock,
    )
    rng = stream(seed, "habits", "doors")
    zipf, coverage = 0.7 + 0.18 * float(rng.random()), 0.6 + 0.35 * float(rng.random())
    events = round(float(rng.triangular(4000, 7000, 11_000)))
    return Habits(
        rhythm, zipf, float(knobs.get("pr_coverage", coverage)), int(knobs.get("events", events)),
        _mix(stream(seed, "habits", "mix")),
    )  # fmt: skip


def _mix(rng: np.random.Generator) -> Mapping[str, float]:
    """Shares inside their ranges that come to one: what is missing or over is spread by room."""
    low = np.array([span[0] for span in MIX.values()])
    high = np.array([span[1] for span in MIX.values()])
    share = low + (high - low) * rng.random(len(MIX))
    over = share.sum() - 1
    room = share - low if over > 0 else high - share
    share = share - over * room / room.sum()
    return dict(zip(MIX, share.tolist(), strict=True))
