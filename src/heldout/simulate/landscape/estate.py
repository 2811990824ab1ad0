"""What an estate is once it stands: its ground, its services' sites, and who changes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from heldout.simulate.catalog import FieldSpec, fields_of
from heldout.simulate.ground import Ground
from heldout.simulate.landscape.habits import Habits
from heldout.simulate.names import styled

ARCHETYPES = ("saas", "fleet", "multicloud", "data")
"""One cluster; one template in many clusters; several providers; a data platform."""
IMPORTED = "imported"
"""The archetype of an estate that was read, not drawn."""


@dataclass(slots=True)
class Site:
    """A placed service and the entities around it that others need by role.

    ``level`` 0 is an entry, 1 to 3 the middle, 4 a leaf that calls no service.
    """

    service: int
    deployment: int
    name: str
    cluster: str
    level: int = 1
    team: int = 0


@dataclass(slots=True)
class Landscape:
    """The estate with the people and repositories that change it."""

    ground: Ground
    archetype: str
    style: str
    people: list[str] = field(default_factory=list)
    bots: tuple[str, ...] = ()
    sites: list[Site] = field(default_factory=list)
    repo_of: dict[int, str] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    home: str = ""
    infra: str = ""
    """The repository of what no service owns."""
    habits: Habits = field(default_factory=Habits)
    _fields: dict[str, tuple[tuple[FieldSpec, str], ...]] = field(default_factory=dict)
    _alike: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)

    def fields(self, kind: str) -> tuple[tuple[FieldSpec, str], ...]:
        """The catalog fields of a kind, each with its path as this organisation spells it."""
        if kind not in self._fields:
            self._fields[kind] = tuple(
                (spec, spell(spec.field, self.style)) for spec in fields_of(kind)
            )
        return self._fields[kind]

    def in_stack(self, entity: int) -> bool:
        """Whether a stack declares the entity; of an imported estate that is not known."""
        kinds = self.ground.entities
        return self.archetype == IMPORTED or any(
            predicate == "declared_in" and kinds[to].kind == "IacStack"
            for predicate, to in self.ground.out(entity)
        )

    @property
    def shared_repository(self) -> str:
        """The repository of changes to what has none of its own."""
        return self.infra or f"{self.bots[0].split('-')[0]}-infra"

    def alike(self, entity: int) -> tuple[int, ...]:
        """Everything of an entity's kind in its cluster, what one large change may reach."""
        one = self.ground.entities[entity]
        key = (one.kind, one.cluster)
        if key not in self._alike:
            self._alike[key] = tuple(
                other for other in self.ground.of_kind(one.kind)
                if self.ground.entities[other].cluster == one.cluster
            )  # fmt: skip
        return self._alike[key]


@cache
def spell(path: str, style: str) -> str:
    """A catalog field's path with its words in the organisation's style."""
    if "{" not in path:
        return path
    head, rest = path.split("{", 1)
    words, tail = rest.split("}", 1)
    return head + styled(words, style) + tail
