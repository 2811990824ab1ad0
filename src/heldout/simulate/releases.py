"""Releases: a version goes to integration, to staging, and to production, cluster by cluster."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heldout.simulate.dressing import DRAWS, dress, image_at
from heldout.simulate.ground import Change, Edit
from heldout.simulate.landscape import Landscape
from heldout.simulate.rhythm import MINUTE, SECOND, moments
from heldout.simulate.streams import stream

_STAGES = (("integration", 1.5), ("staging", 1.07))
"""How many releases to a stage there are for each one to production."""
_STAGED = 0.8
"""Share of production releases that went through the stages; the others went straight there."""
_NEVER = 1 << 62


def releases(
    land: Landscape,
    seed: int,
    start: int,
    now: int,
    count: int,
    protected: Mapping[tuple[int, str], int],
) -> list[Change]:
    """About ``count`` releases. Each is a change of its own; a fleet is rolled out in a wave."""
    units: dict[str, list[int]] = {}
    for site in land.sites:
        units.setdefault(site.name, []).append(site.deployment)
    if not units or not count:
        return []
    rng = stream(seed, "timeline", "deploy")
    names = list(units)
    size = sum(len(units[name]) for name in names) / len(names)
    staged = any(land.ground.find("Pipeline", f"{name}-release") is not None for name in names)
    each = size + (sum(part for _, part in _STAGES) if staged else 0.0)
    rollouts = max(1, round(count / each))
    rank = np.cumsum(1.0 / np.arange(1, len(names) + 1) ** land.habits.zipf)
    order = rng.permutation(len(names))
    picks = np.searchsorted(rank, rng.random(rollouts) * rank[-1]).tolist()
    times = moments(rng, rollouts, start, now, flat=False, rhythm=land.habits.rhythm).tolist()
    made: list[Change] = []
    for number, (ts, pick) in enumerate(zip(times, picks, strict=True)):
        name, key = names[int(order[pick])], f"deploy/{number}"
        made += _wave(land, key, ts, units[name], start, now, protected, rng)
        pipeline = land.ground.find("Pipeline", f"{name}-release")
        if pipeline is not None:
            made += _stages(land, key, ts, units[name][0], pipeline, start, rng)
    return made


def _wave(
    land: Landscape,
    key: str,
    ts: int,
    copies: list[int],
    start: int,
    now: int,
    protected: Mapping[tuple[int, str], int],
    rng: np.random.Generator,
) -> list[Change]:
    """One version in every cluster, 6 to 60 minutes apart; the present may cut a wave short."""
    version = image_at(land.ground, copies[0], ts, start)
    rows = rng.random((len(copies), DRAWS)).tolist()
    made, when = [], ts
    for at, (entity, u) in enumerate(zip(copies, rows, strict=True)):
        when += round((6 + 54 * u[11]) * MINUTE / SECOND) * SECOND if at else 0
        if when < min(now, protected.get((entity, "image"), _NEVER)):
            edit = Edit(entity, "image", version, None)
            made.append(dress(land, f"{key}/{at}", when, (edit,), u, type_="deploy"))
    return made


def _stages(
    land: Landscape,
    key: str,
    ts: int,
    deployment: int,
    pipeline: int,
    start: int,
    rng: np.random.Generator,
) -> list[Change]:
    """The same version in integration, then in staging, earlier that day; some twice.

    Releases that skip the stages are made up for by versions that never get to production.
    """
    version = image_at(land.ground, deployment, ts, start).rsplit(":", 1)[-1]
    skips = rng.random() >= _STAGED
    made, when = [], ts
    for stage, part in reversed(_STAGES):
        for again in range(int(part) + int(rng.random() < part % 1)):
            u = rng.random(DRAWS).tolist()
            when -= round((8 + 42 * u[11]) * MINUTE / SECOND) * SECOND
            own = f"{version}-rc{again + 1}" if skips or again else version
            edit = Edit(pipeline, f"{stage}.version", own, None)
            if when > start:
                made.append(dress(land, f"{key}/{stage}/{again}", when, (edit,), u, type_="deploy"))
    return made
