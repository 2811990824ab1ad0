"""How large an estate is and what it is made of, drawn before anything is built.

Ranges after graph_simulator research (section 8); each quantity has a stream of its own, so that a
knob shifts nothing but what it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heldout.simulate.rhythm import calendar
from heldout.simulate.streams import stream

CLOUDS = ("aws", "gcp", "azure")
Knobs = Mapping[str, float | int | str]


@dataclass(frozen=True, slots=True)
class Shape:
    """What an archetype prefers: shares among services, and how many of a thing per service.

    ``per_service`` and ``per_cluster`` are about how many entities each brings along, pods and
    optional objects aside.
    """

    entry: float = 0.13
    leaf: float = 0.39
    stores: float = 0.25
    caches: float = 0.12
    topics: float = 0.22
    stored: float = 0.62
    consumes: float = 0.38
    publishes: float = 0.38
    batch: float = 0.75
    per_service: float = 15.3
    per_cluster: float = 46.0


SHAPES: Mapping[str, Shape] = {
    "saas": Shape(),
    "fleet": Shape(stores=0.4),
    "multicloud": Shape(stores=0.3, per_cluster=62),
    "data": Shape(entry=0.08, stores=0.34, topics=0.6, stored=0.72, consumes=0.62,
                  publishes=0.6, batch=1.5, per_service=17.5, per_cluster=75),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """One estate's quantities. ``size`` is in entities, ``services`` counts every placed one.

    ``pods`` is the mean of a lognormal; ``rich`` scales how many optional objects services have;
    with ``one_repository`` a team keeps all its services in one. ``drift`` is the share of cloud
    resources that no stack declares, ``unseen`` that of declared dependencies without traffic,
    ``undeclared`` that of dependencies in traffic that nobody declared, ``untrue`` that of edges
    which are stale or wrong.
    """

    archetype: str
    shape: Shape
    clouds: tuple[str, ...]
    accounts: int
    regions: int
    clusters: int
    teams: int
    people: int
    bots: int
    size: int
    services: int
    pods: float
    rich: float
    one_repository: bool
    cycles: int
    name_similarity: float
    drift: float
    unseen: float
    undeclared: float
    untrue: float
    start: int
    now: int


def draw_plan(seed: int, knobs: Knobs) -> Plan:
    """The quantities for a seed and the knobs ``archetype``, ``clusters``, ``scale`` and others."""
    archetype = str(knobs.get("archetype", "saas"))
    shape = SHAPES[archetype]
    scale = float(knobs.get("scale", 1.0))
    clouds, regions, clusters, accounts = _places(seed, archetype, knobs)
    now, start, _ = calendar(seed, knobs)
    truth = stream(seed, "plan", "records").random(4).tolist()
    rng = stream(seed, "plan", "size")
    teams = int(rng.integers(5, 8) if clusters > 2 else rng.integers(7, 13))
    people = round(float(rng.triangular(15, 34, 75)))
    size = float(rng.triangular(1160, 1500, 1870))
    # One estate in six is of many small services, with little around each.
    many = rng.random() < 0.16
    pods = float(rng.triangular(2.0, 2.2, 2.6) if many else rng.triangular(2.2, 3.3, 5.6))
    rich = float(rng.triangular(0.4, 0.45, 0.6) if many else rng.triangular(0.5, 0.95, 1.1))
    one_repository = bool(rng.random() < (0.9 if many else 0.2))
    base = 60 + people + shape.per_cluster * clusters + 3 * teams * clusters
    each = shape.per_service - 0.8 * one_repository + 3.1 * rich + pods + 0.2
    services = (size * scale - base * min(1.0, scale + 0.15)) / each
    least = max(2 * clusters, 12, round(35 * min(scale, 1.0)))
    return Plan(
        archetype, shape, clouds, accounts, regions, clusters,
        teams=max(3, round(teams * min(1.0, scale + 0.3))),
        people=max(8, round(people * scale)) if scale < 1 else people,
        bots=2 + (int(rng.geometric(0.32)) - 1) % 7,
        size=round(size * scale),
        services=max(least, min(108, round(services))),
        pods=pods, rich=rich, one_repository=one_repository,
        cycles=int(np.searchsorted((0.6, 0.9), rng.random())),
        name_similarity=float(knobs.get("name_similarity", 0.02 + 0.08 * rng.random())),
        drift=float(knobs.get("drift", 0.35 + 0.59 * truth[0])),
        unseen=0.06 + 0.08 * truth[1], undeclared=0.06 + 0.08 * truth[2],
        untrue=0.011 + 0.018 * truth[3], start=start, now=now,
    )  # fmt: skip


def _places(seed: int, archetype: str, knobs: Knobs) -> tuple[tuple[str, ...], int, int, int]:
    """(clouds, regions, clusters, accounts)."""
    rng = stream(seed, "plan", "places")
    order = [CLOUDS[int(at)] for at in rng.permutation(3)]
    clouds = order[: int(rng.integers(2, 4))] if archetype == "multicloud" else order[:1]
    drawn = {
        "saas": 1, "fleet": int(rng.integers(3, 7)), "data": int(rng.integers(1, 3)),
        "multicloud": len(clouds) + int(rng.integers(0, 2)),
    }  # fmt: skip
    clusters = int(knobs.get("clusters", drawn[archetype]))
    clouds = clouds[:clusters]
    most = min(clusters, 4)
    least = max(min(2, clusters), len(clouds))
    regions = int(rng.integers(least, most + 1)) if clusters > 1 else 1
    accounts = min(5, len(clouds) + int(rng.integers(0, 3)))
    return tuple(clouds), regions, clusters, accounts
