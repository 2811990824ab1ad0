"""What is shared while an estate is being built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heldout.simulate.catalog import VERSIONED
from heldout.simulate.ground import Ground
from heldout.simulate.landscape.estate import Landscape
from heldout.simulate.landscape.plan import Plan
from heldout.simulate.names import NameBook
from heldout.simulate.streams import stream

_SIDES = ("north", "south", "east", "west", "mid")
_OVERRIDDEN = 0.12
"""Share of settings in which a copy differs from its template."""


@dataclass(slots=True)
class Place:
    """A cluster and what stands around it."""

    name: str
    cloud: str
    region: str
    cluster: int
    account: int
    vpc: int = -1
    edge: int = -1
    subnets: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    own_groups: list[int] = field(default_factory=list)
    """Pools that no template brought: for what runs in this cluster alone."""
    nodes: list[int] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    priorities: list[int] = field(default_factory=list)
    storage: list[int] = field(default_factory=list)
    ingress_class: int = -1
    releases: list[int] = field(default_factory=list)
    cluster_roles: list[int] = field(default_factory=list)


class Build:
    """The estate under construction: ground, names, streams, teams and places."""

    def __init__(self, seed: int, bank: int, plan: Plan) -> None:
        self.seed, self.plan = seed, plan
        self.book = NameBook(seed, bank)
        self._streams: dict[str, np.random.Generator] = {}
        style = ("snake", "upper", "camel", "kebab")[int(self.rng("style").integers(4))]
        self.land = Landscape(Ground(seed, plan.clouds[0]), plan.archetype, style=style)
        self.ground = self.land.ground
        self.teams: list[int] = []
        self.stacks: list[int] = []
        self.accounts: list[int] = []
        self.places: list[Place] = []
        self.owning = 0
        """The team for which things are being made; the first one runs the platform."""
        self.team_of: dict[int, int] = {}
        self.level_of: dict[int, int] = {}
        self.claimed: set[tuple[int, int]] = set()
        self.shared_names = plan.archetype == "fleet"
        self._names: dict[str, str] = {}
        self._templates: dict[tuple[str, str, str], float] = {}
        self._draws: list[float] = []

    def rng(self, part: str) -> np.random.Generator:
        """The stream of one part of the estate."""
        if part not in self._streams:
            self._streams[part] = stream(self.seed, "topology", part)
        return self._streams[part]

    def name(self, role: str, suffix: str) -> str:
        """A brand name for a role in a cluster; the same one in every cluster of a template."""
        if not self.shared_names:
            return f"{self.book.brand()}{suffix}"
        if role not in self._names:
            self._names[role] = f"{self.book.brand()}{suffix}"
        return self._names[role]

    def team(self, number: int) -> str:
        """The plain name of a team."""
        return self.ground.name(self.teams[number]).removesuffix("-crew")

    def stem(self, team: int, place: Place) -> str:
        """What a team's things in a cluster begin with: the same everywhere in a fleet."""
        number = self.land.clusters.index(place.name)
        side = "" if self.shared_names or number == 0 else f"-{_SIDES[number - 1]}"
        return self.team(team) + side

    def settings(self, entity: int, kind: str, most: int = 9) -> None:
        """Base facts for the fields of ``kind`` that may change.

        Things of one name in several clusters come from one template: a copy has the same values,
        but for the few that its cluster overrides.
        """
        name, base = self.ground.name(entity), self.ground.base
        for at, (spec, path) in enumerate(self.land.fields(kind)):
            if spec.field in VERSIONED:
                continue
            draw = self._draw()
            if self.shared_names:
                first = self._templates.setdefault((kind, name, path), draw)
                if at >= most or self._draw() >= _OVERRIDDEN:
                    draw = first
            if at < most or draw <= 1 / 3:
                base[(entity, path)] = spec.values[int(draw * 7919) % len(spec.values)]

    def _draw(self) -> float:
        if not self._draws:
            self._draws = self.rng("settings").random(4096).tolist()
        return self._draws.pop()

    def add(self, kind: str, name: str, cluster: str = "", /, **facts: Any) -> int:
        """A new entity with its kind's settings."""
        entity = self.ground.add(kind, name, cluster, **facts)
        self.team_of.setdefault(entity, self.owning)
        self.settings(entity, kind)
        return entity
