"""Both sides of every cloud resource of a world: who declares it, whether it runs, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from heldout.graph.facts import FactRow
from heldout.graph.ontology import CLOUD_KINDS
from heldout.graph.snapshot import Entity
from heldout.graph.world import World

CLOUDS = ("aws", "gcp", "azure")
"""Sources whose resources are counted, declared or not."""
RUNTIME = (*CLOUDS, "k8s")
"""Sources that tell what runs."""

UNKNOWN_ACCOUNT = "(account unknown)"
INVENTORIED = "inventoried."
"""Begins the fact of an account that says that a type was asked for in a region."""

_HOMES = frozenset({"CloudAccount", "Region", "IacStack", "QuotaLimit"})
_MAX_STEPS = 5


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource. ``declared`` and ``running`` are what each side tells of it, by field."""

    id: str
    name: str
    kind: str
    type: str
    account: str
    region: str
    stacks: tuple[str, ...]
    runs: bool
    made_by: str
    planned: str
    declared: Mapping[str, Any]
    running: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sides:
    """Every resource of a world, and which types were asked for, as (account, region, type)."""

    resources: tuple[Resource, ...]
    inventoried: frozenset[tuple[str, str, str]]
    stacks: int


def read_sides(world: World) -> Sides:
    """The two sides, in order of account, kind, name and id."""
    reader = _Reader(world)
    found = [one for entity in world.graph.entities.values() if (one := reader.resource(entity))]
    return Sides(
        tuple(sorted(found, key=lambda one: (one.account, one.kind, one.name, one.id))),
        frozenset(reader.inventoried()),
        len(reader.entities("IacStack")),
    )


class _Reader:
    def __init__(self, world: World) -> None:
        self._world = world
        self._clusters = {
            one.cluster: one.id for one in self.entities("Cluster") if one.cluster
        }  # fmt: skip

    def entities(self, kind: str) -> list[Entity]:
        return [one for one in self._world.graph.entities.values() if one.kind == kind]

    def resource(self, entity: Entity) -> Resource | None:
        """One entity as a resource, ``None`` where it is none of a cloud or of a stack."""
        if entity.kind in _HOMES or entity.id in self._world.gone:
            return None
        rows = self._held(entity.id)
        stacks = tuple(sorted(self._ends(entity.id, "declared_in", "IacStack")))
        running = _told(rows, RUNTIME)
        bare = entity.kind in CLOUD_KINDS and not rows
        if not stacks and not bare and not _told(rows, CLOUDS):
            return None
        known = {**_told(rows, None), **running}
        custom = known.get("custom_kind")
        return Resource(
            id=entity.id,
            name=entity.name,
            kind=str(custom) if entity.kind == "CustomResource" and custom else entity.kind,
            type=str(known.get("cloud_type") or custom or entity.kind),
            account=str(known.get("account") or self._account(entity)),
            region=str(known.get("region") or ""),
            stacks=stacks,
            runs=bool(running) or bare,
            made_by=str(running.get("made_by") or ""),
            planned=str(known.get("planned") or ""),
            declared=_told(rows, ("iac",)),
            running=running,
        )

    def _held(self, entity: str) -> list[FactRow]:
        now = self._world.now
        return [one for one in self._world.facts.of(entity) if one.valid_from <= now < one.valid_to]

    def _ends(self, entity: str, predicate: str, kind: str) -> Iterable[str]:
        now, graph = self._world.now, self._world.graph
        for edge in graph.all_out(entity):
            if edge.pred == predicate and edge.holds(now, now):
                other = graph.entities.get(edge.dst)
                if other is not None and other.kind == kind:
                    yield other.name

    def _account(self, entity: Entity) -> str:
        """The account that an entity is part of, over some steps, else that of its cluster."""
        graph, now = self._world.graph, self._world.now
        layer, seen = [entity.id], {entity.id}
        for _ in range(_MAX_STEPS):
            reached: list[str] = []
            for one in layer:
                for edge in graph.all_out(one):
                    if edge.pred in ("part_of", "runs_on") and edge.holds(now, now):
                        other = graph.entities.get(edge.dst)
                        if other is not None and other.kind == "CloudAccount":
                            return other.name
                        if edge.dst not in seen:
                            seen.add(edge.dst)
                            reached.append(edge.dst)
            layer = reached
        home = self._clusters.get(entity.cluster)
        if home and home != entity.id:
            return self._account(graph.entities[home])
        return UNKNOWN_ACCOUNT

    def inventoried(self) -> Iterable[tuple[str, str, str]]:
        """What was asked for: (account, region, type), from the facts of accounts."""
        for account in self.entities("CloudAccount"):
            for row in self._held(account.id):
                if row.field.startswith(INVENTORIED):
                    type_, _, region = row.field.removeprefix(INVENTORIED).partition(".")
                    yield account.name, region, type_


def _told(rows: Sequence[FactRow], sources: Sequence[str] | None) -> dict[str, Any]:
    """Fields by name as some sources tell them, the latest value of each; of all when ``None``."""
    held = [one for one in rows if sources is None or one.source in sources]
    held.sort(key=lambda one: (one.valid_from, one.observed_at))
    return {one.field: orjson.loads(one.value_json) for one in held}
