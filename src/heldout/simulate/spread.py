"""How trouble spreads: from the seat of a fault to everything that leans on it.

The share of failing calls is damped at every edge; some callers have a fallback and stay well.
Without the edge there is no symptom above it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from heldout.simulate.ground import DEPENDS, Ground
from heldout.simulate.plot import MAX_HOPS
from heldout.simulate.streams import share

FAINTEST = 0.04
"""Below this share of failing calls nothing shows above everyday noise."""
FALLBACK_SHARE = 0.3


def spread(
    ground: Ground,
    seat: int,
    path: Sequence[int],
    *,
    cut: frozenset[tuple[int, int]] = frozenset(),
    carries: Sequence[str] = (),
) -> dict[int, float]:
    """Share of failing calls (0..1) of every affected entity, the seat first.

    ``path`` is the way on which nobody has a fallback. ``cut`` names (src, dst) edges that are left
    out, for tests of necessity. ``carries`` are the predicates that trouble passes along; empty
    means all of :data:`DEPENDS`.
    """
    along = carries or DEPENDS
    on_path = set(pairwise(path))
    level = {seat: 0.9}
    depth = {seat: 0}
    queue = deque([seat])
    while queue:
        at = queue.popleft()
        if depth[at] > MAX_HOPS:
            continue
        for predicate, above in ground.into(at):
            if predicate not in along or ground.entities[above].kind != "Service":
                continue
            if (above, at) in cut or above in level:
                continue
            passed = level[at] * _transfer(ground, above, at, (above, at) in on_path)
            if passed >= FAINTEST:
                level[above] = passed
                depth[above] = depth[at] + 1
                queue.append(above)
    return level


def _transfer(ground: Ground, src: int, dst: int, on_path: bool) -> float:
    draw = share(ground.seed, "damping", ground.id(src), ground.id(dst))
    if on_path:
        return 0.72 + 0.2 * draw
    if draw < FALLBACK_SHARE:
        return 0.0
    return 0.15 + 0.5 * draw


def failing_below(ground: Ground, entity: int, level: dict[int, float]) -> list[int]:
    """The affected entities that ``entity`` leans on, in edge order."""
    return [dst for predicate, dst in ground.out(entity) if predicate in DEPENDS and dst in level]
