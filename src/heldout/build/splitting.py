"""Splitting a set in two: whole groups, balanced by domain, kind, traps and difficulty.

Biggest group first onto the side where it costs less, then a local search that flips one group or
swaps two (leak_gate research, section 8). Deterministic for the same input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from heldout.simulate.streams import stream
from heldout.truth import Spec

SIZE_WEIGHT = 6.0
MOVES = 1500


def difficulty(spec: Spec) -> str:
    """A coarse label from the knobs: how far back, how far away. Measured labels replace it."""
    days = float(spec.knobs.get("latency_days", 0))
    hops = int(float(spec.knobs.get("hops", 2)))
    return f"{'short' if days < 1 else 'long'}-{'near' if hops <= 2 else 'far'}"


def _features(spec: Spec) -> list[str]:
    return [
        f"kind:{spec.kind}", f"domain:{spec.kind}:{spec.domain}",
        f"difficulty:{spec.kind}:{difficulty(spec)}",
        *(f"trap:{spec.kind}:{trap}" for trap in spec.traps),
    ]  # fmt: skip


def _cost(sides: Mapping[str, int], groups: Mapping[str, Sequence[Spec]]) -> float:
    lean: Counter[str] = Counter()
    size = 0
    for group, side in sides.items():
        sign = 1 if side == 0 else -1
        size += sign * len(groups[group])
        for spec in groups[group]:
            for feature in _features(spec):
                lean[feature] += sign
    weights = {"kind": 5.0, "domain": 1.5, "difficulty": 1.0, "trap": 1.0}
    return SIZE_WEIGHT * abs(size) + sum(
        weights[name.split(":", 1)[0]] * max(0, abs(value) - (0 if name[0] == "k" else 1)) ** 2
        for name, value in lean.items()
    )


def split_by_group(specs: Sequence[Spec], seed: int) -> dict[str, int]:
    """Side (0 or 1) of each group; no group stands on both."""
    groups: dict[str, list[Spec]] = {}
    for spec in specs:
        groups.setdefault(spec.group, []).append(spec)
    order = sorted(groups, key=lambda group: (-len(groups[group]), group))
    sides: dict[str, int] = {}
    for group in order:
        costs = [_cost({**sides, group: side}, groups) for side in (0, 1)]
        sides[group] = 0 if costs[0] <= costs[1] else 1
    rng = stream(seed, "split")
    best = _cost(sides, groups)
    for _ in range(MOVES):
        trial = dict(sides)
        one, two = (order[int(i)] for i in rng.integers(0, len(order), 2))
        trial[one] = 1 - trial[one]
        if rng.random() < 0.6 and trial[two] == trial[one] and one != two:
            trial[two] = 1 - trial[two]
        cost = _cost(trial, groups)
        if cost <= best:
            sides, best = trial, cost
    return sides
