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
    """What an archetype prefers: shares among services, and how many of a thing per service."""

    entry: float = 0.13
    leaf: float = 0.39
    stores: float = 0.25
    caches: float = 0.12
    topics: float = 0.22
    stored: float = 0.62
    consumes: float = 0.38
    publishes: float = 0.38
    batch: float = 0.75


SHAPES: Mapping[str, Shape] = {
    "saas": Shape(),
    "fleet": Shape(stores=0.4),
    "multicloud": Shape(stores=0.3),
    "data": Shape(entry=0.08, stores=0.34, topics=0.6, stored=0.72, consumes=0.62,
                  publishes=0.6, batch=1.5),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """One estate's quantities. ``size`` is in entities, ``services`` counts every placed one.

    ``pods`` is the mean of a lognormal; ``rich`` the share of optional objects that a service has.
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
    cycles: int
    name_similarity: float
    now: int


def draw_plan(seed: int, knobs: Knobs) -> Plan:
    """The quantities for a seed and the knobs ``archetype``, ``clusters``, ``scale`` and others."""
    archetype = str(knobs.get("archetype", "saas"))
    shape = SHAPES[archetype]
    scale = float(knobs.get("scale", 1.0))
    clouds, regions, clusters, accounts = _places(seed, archetype, knobs)
    rng = stream(seed, "plan", "size")
    teams = int(rng.integers(5, 8) if clusters > 2 else rng.integers(7, 13))
    people = round(float(rng.triangular(15, 34, 75)))
    size = float(rng.triangular(1180, 1500, 1920))
    pods = float(rng.triangular(2.4, 3.4, 5.6))
    rich = float(rng.triangular(0.55, 0.95, 1.1))
    base = 190 + people + 46 * clusters + 5 * teams * (1 + (clusters - 1) * 0.7)
    services = (size * scale - base * min(1.0, scale + 0.15)) / (11.5 + 8.2 * rich + pods)
    least = max(2 * clusters, 12)
    return Plan(
        archetype, shape, clouds, accounts, regions, clusters,
        teams=max(3, round(teams * min(1.0, scale + 0.3))),
        people=max(8, round(people * scale)) if scale < 1 else people,
        bots=2 + int(rng.geometric(0.32) - 1) % 7,
        size=round(size * scale),
        services=max(least, min(110, max(round(35 * min(scale, 1.0)), round(services)))),
        pods=pods, rich=rich,
        cycles=int(np.searchsorted((0.6, 0.9), rng.random())),
        name_similarity=float(knobs.get("name_similarity", 0.02 + 0.08 * rng.random())),
        now=calendar(seed, knobs)[0],
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
