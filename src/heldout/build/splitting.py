"""Splitting a pool in two: whole groups, balanced by kind, domain, traps, estate and difficulty.

Biggest group first onto the side where it costs less, then a local search that flips one group or
swaps two (leak_gate research, section 8). Deterministic for the same input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.build.labels import label
from heldout.simulate.streams import stream
from heldout.truth import KINDS, Spec
from heldout.truth.specs import Kind

SIZE_WEIGHT = 6.0
SHORT_WEIGHT = 40.0
"""For each incident of a kind that a side lacks: the set could not be filled."""
WEIGHTS: Mapping[str, float] = {
    "kind": 5.0, "domain": 1.5, "difficulty": 1.0, "trap": 1.0, "estate": 0.7,
}  # fmt: skip
MOVED_WEIGHT = 0.4
"""For each incident that must be rendered again because its names are of the other half."""
SEEN = (0.4, 0.7)
"""Share of test-side trap incidents whose family should also stand on the train side."""
SEEN_WEIGHT = 60.0
MOVES = 3000

Floats = np.ndarray[Any, np.dtype[np.float64]]


def difficulty(spec: Spec, rates: Mapping[str, float] | None = None) -> str:
    """The label of a measured pass rate; without one how old and how far off, by the knobs."""
    if rates is not None and spec.id in rates:
        return label(rates[spec.id])
    days = float(spec.knobs.get("latency_days", 0))
    hops = int(float(spec.knobs.get("hops", 2)))
    return f"{'short' if days < 1 else 'long'}-{'near' if hops <= 2 else 'far'}"


def _features(spec: Spec, rates: Mapping[str, float] | None) -> list[str]:
    return [
        f"kind:{spec.kind}", f"domain:{spec.kind}:{spec.domain}",
        f"difficulty:{spec.kind}:{difficulty(spec, rates)}",
        f"estate:{spec.kind}:{spec.knobs.get('archetype', '')}",
        *(f"trap:{spec.kind}:{trap}" for trap in spec.traps),
    ]  # fmt: skip


class _Scales:
    """What a split costs. Groups are rows; sides are -1 (test) and 1 (train)."""

    def __init__(
        self,
        groups: Mapping[str, Sequence[Spec]],
        rates: Mapping[str, float] | None,
        need: tuple[Mapping[Kind, int], Mapping[Kind, int]] | None,
    ) -> None:
        self.names = sorted(groups, key=lambda group: (-len(groups[group]), group))
        rows = [[_features(spec, rates) for spec in groups[name]] for name in self.names]
        features = sorted({one for row in rows for spec in row for one in spec})
        self._counts = _counted([[one for spec in row for one in spec] for row in rows], features)
        self._weights = np.array([WEIGHTS[name.split(":", 1)[0]] for name in features])
        self._slack = np.array([0.0 if name.startswith("kind:") else 1.0 for name in features])
        self._sizes = np.array([float(len(groups[name])) for name in self.names])
        traps = [[s.family for s in groups[name] if s.kind == "trap"] for name in self.names]
        self._families = _counted(traps, sorted({one for row in traps for one in row}))
        kinds = [[spec.kind for spec in groups[name]] for name in self.names]
        self._kinds = _counted(kinds, KINDS)
        train, test = need or ({}, {})
        self._need = [np.array([float(side.get(k, 0)) for k in KINDS]) for side in (train, test)]
        # A group's lean: how many of its names are of the train side's half, less the others.
        self._lean = np.array(
            [sum(_leaning(spec) for spec in groups[name]) for name in self.names], dtype=float
        )

    def cost(self, sides: Floats) -> float:
        """Lower is better; rows whose side is 0 are not placed yet."""
        lean = np.maximum(0.0, np.abs(sides @ self._counts) - self._slack)
        total = SIZE_WEIGHT * abs(float(sides @ self._sizes)) + float(self._weights @ lean**2)
        for sign, need in zip((1, -1), self._need, strict=True):
            short = np.maximum(0.0, need - (sides == sign).astype(float) @ self._kinds)
            total += SHORT_WEIGHT * float(short.sum())
        moved = np.abs(self._lean) * (sides * self._lean < 0)
        return total + MOVED_WEIGHT * float(moved.sum()) + SEEN_WEIGHT * self._unseen(sides)

    def _unseen(self, sides: Floats) -> float:
        """How far the share of test traps of a family seen in train is outside :data:`SEEN`."""
        train = (sides > 0).astype(float) @ self._families
        test = (sides < 0).astype(float) @ self._families
        if not test.sum():
            return 0.0
        seen = float(test[train > 0].sum() / test.sum())
        return max(0.0, SEEN[0] - seen, seen - SEEN[1])


def _counted(rows: Sequence[Sequence[str]], names: Sequence[str]) -> Floats:
    at = {name: column for column, name in enumerate(names)}
    counts = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for name in row:
            counts[number, at[name]] += 1
    return counts


def _leaning(spec: Spec) -> int:
    bank = spec.knobs.get("bank")
    return 0 if bank is None else 1 if int(float(bank)) == 0 else -1


def split_by_group(
    specs: Sequence[Spec],
    seed: int,
    *,
    rates: Mapping[str, float] | None = None,
    need: tuple[Mapping[Kind, int], Mapping[Kind, int]] | None = None,
) -> dict[str, int]:
    """Side (0 train, 1 test) of each group; no group stands on both.

    ``rates`` are measured pass rates by incident, to be balanced. ``need`` says how many incidents
    of each kind train and test must have at least.
    """
    groups: dict[str, list[Spec]] = {}
    for spec in specs:
        groups.setdefault(spec.group, []).append(spec)
    scales = _Scales(groups, rates, need)
    sides = np.zeros(len(groups))
    for row in range(len(groups)):
        costs = []
        for sign in (1.0, -1.0):
            sides[row] = sign
            costs.append(scales.cost(sides))
        sides[row] = 1.0 if costs[0] <= costs[1] else -1.0
    sides = _searched(scales, sides, seed)
    return {name: 0 if side > 0 else 1 for name, side in zip(scales.names, sides, strict=True)}


def _searched(scales: _Scales, sides: Floats, seed: int) -> Floats:
    """The best of many flips of one group or swaps of two."""
    rng = stream(seed, "split")
    best = scales.cost(sides)
    for _ in range(MOVES if len(sides) else 0):
        trial = sides.copy()
        one, two = (int(at) for at in rng.integers(0, len(sides), 2))
        trial[one] = -trial[one]
        if rng.random() < 0.6 and trial[two] == trial[one] and one != two:
            trial[two] = -trial[two]
        cost = scales.cost(trial)
        if cost <= best:
            sides, best = trial, cost
    return sides


def halves(wanted: Mapping[Kind, int]) -> tuple[Mapping[Kind, int], Mapping[Kind, int]]:
    """How many of each kind train and test get; the odd ones go to either in turn."""
    train: dict[Kind, int] = {}
    test: dict[Kind, int] = {}
    for kind, count in wanted.items():
        odd = count % 2
        ahead = sum(train.values()) <= sum(test.values())
        train[kind] = count // 2 + (odd if ahead else 0)
        test[kind] = count - train[kind]
    return train, test
