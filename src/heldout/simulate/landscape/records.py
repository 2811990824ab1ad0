"""What is written down about an estate, rightly or not.

Most cloud resources stand in a stack, the others were made by hand: by whole teams and accounts
rather than here and there. Some declared dependencies carry no traffic, some edges are out of date,
and some were guessed wrongly. None of these carries trouble.
"""

from __future__ import annotations

import numpy as np

from heldout.simulate.ground import CLOUD_MADE, TRAFFIC, Said, confidence
from heldout.simulate.landscape.build import Build
from heldout.simulate.rhythm import DAY
from heldout.simulate.streams import share

_STALE = 0.6
"""Share of what is stale rather than wrong from the start."""
_CROWDED = 18
"""Nothing untrue is said of what has as many edges, whose true ones fill a page already."""

_TRIES = 40
_KINDS = (
    ("Service", "calls"), ("Service", "calls"), ("Service", "calls"),
    ("DbInstance", "reads_writes"), ("KafkaTopic", "consumes_from"),
)  # fmt: skip


def write_records(build: Build) -> None:
    """Declare what stands in a stack, then add what is said and does not hold."""
    _declare(build)
    rng = build.rng("records")
    _undeclared(build, rng)
    _unseen(build, rng)
    _untrue(build, rng)


def _declare(build: Build) -> None:
    """Of all cloud resources the share ``drift`` has no stack, clustered by account and team."""
    g = build.ground
    ranked = []
    for entity, one in enumerate(g.entities):
        if one.kind in CLOUD_MADE:
            team = build.team_of.get(entity, 0)
            habit = share(build.seed, "by-hand", one.cluster, team)
            ranked.append((0.75 * habit + 0.25 * share(build.seed, "by-hand", one.id), entity))
    ranked.sort()
    for _, entity in ranked[round(build.plan.drift * len(ranked)) :]:
        g.link(entity, "declared_in", build.stacks[build.team_of.get(entity, 0)])


def _undeclared(build: Build, rng: np.random.Generator) -> None:
    """Of the dependencies that traffic shows, some are declared nowhere and so only inferred."""
    edges = build.ground.edges
    seen = [at for at, edge in enumerate(edges) if edge.predicate in TRAFFIC]
    for at in rng.permutation(seen)[: round(build.plan.undeclared * len(seen))].tolist():
        sure = confidence("inferred", float(rng.random()))
        edges[at] = edges[at]._replace(provenance="inferred", confidence=sure)


def _unseen(build: Build, rng: np.random.Generator) -> None:
    """Dependencies that code or manifests declare and no request ever used."""
    g, plan = build.ground, build.plan
    seen = sum(1 for e in g.edges if e.predicate in TRAFFIC and e.provenance == "observed")
    for _ in range(round(seen * plan.unseen / (1 - plan.unseen))):
        pair = _pair(build, rng)
        if pair is not None:
            source = "git" if rng.random() < 0.6 else "iac"
            said: Said = ("declared", confidence("declared", float(rng.random())), source)
            g.claim(*pair, said=said)


def _untrue(build: Build, rng: np.random.Generator) -> None:
    """1 to 3 % of all edges: inferred ones that ended in the past or never held."""
    g, plan = build.ground, build.plan
    span = (plan.now - plan.start) // DAY
    for _ in range(round(plan.untrue * len(g.edges))):
        pair = _pair(build, rng)
        if pair is None:
            continue
        sure = confidence("inferred", float(rng.random()))
        ended = plan.start + int(rng.integers(12, max(13, 24 * (span - 1)))) * (DAY // 24)
        if rng.random() < _STALE:
            g.claim(*pair, said=("inferred", sure, "traffic"), until=ended)
        else:
            g.claim(*pair, said=("inferred", round(0.6 * sure, 2), "traffic"))


def _pair(build: Build, rng: np.random.Generator) -> tuple[int, str, int] | None:
    """A dependency that could be and is not: downwards, in one cluster, of a service with room."""
    g, sites = build.ground, build.land.sites
    for _ in range(_TRIES):
        one = sites[int(rng.integers(len(sites)))]
        kind, predicate = _KINDS[int(rng.integers(len(_KINDS)))]
        pool = g.of_kind(kind)
        other = pool[int(rng.integers(len(pool)))]
        if g.entities[other].cluster != one.cluster or (one.service, other) in build.claimed:
            continue
        if (predicate, other) in g.out(one.service):
            continue
        if kind == "Service" and build.level_of[other] <= one.level:
            continue
        if max(g.degree(one.service), g.degree(other)) < _CROWDED:
            build.claimed.add((one.service, other))
            return one.service, predicate, other
    return None
