"""What an estate is once it stands: its ground, its services' sites, and who changes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from heldout.simulate.ground import Ground
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

    def site_of(self, service: int) -> Site | None:
        """The site whose Service entity this is."""
        return next((site for site in self.sites if site.service == service), None)


@cache
def spell(path: str, style: str) -> str:
    """A catalog field's path with its words in the organisation's style."""
    if "{" not in path:
        return path
    head, rest = path.split("{", 1)
    words, tail = rest.split("}", 1)
    return head + styled(words, style) + tail
