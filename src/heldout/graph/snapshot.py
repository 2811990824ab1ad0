"""One moment of a graph in memory: entities, what holds of them, and what they connect to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeVar

import orjson

from heldout.graph.ontology import BELONGING

T = TypeVar("T")


class Entity(NamedTuple):
    """A row of ``entity``."""

    id: str
    kind: str
    name: str
    external_id: str
    cluster: str
    first_seen: int
    last_seen: int


class Edge(NamedTuple):
    """A row of ``edge``."""

    src: str
    pred: str
    dst: str
    valid_from: int
    valid_to: int
    observed_at: int
    provenance: str
    confidence: float
    source: str

    def holds(self, at: int, known_by: int) -> bool:
        """True when it was valid at ``at`` and known at ``known_by``."""
        return self.valid_from <= at < self.valid_to and self.observed_at <= known_by


class Link(NamedTuple):
    """One way from an entity to another, by the edge that says most."""

    entity: str
    predicate: str
    direction: str


class RawFacts(Protocol):
    """Fields of entities as JSON text; a mapping of mappings will do."""

    def get(self, entity: str, default: Mapping[str, str], /) -> Mapping[str, str]:
        """Those of one entity, ``default`` where nothing is known of it."""
        ...


class Snapshot:
    """Entities with the facts and edges that hold at ``now``.

    ``raw_facts`` maps an entity to its fields as JSON text; an entity is decoded when first asked
    for. ``gone`` are the entities that no longer exist: known by id, of no kind. ``fields`` are all
    that any fact names, where that is known. Everything comes back in a stable order: entities by
    kind, name and id, edges as stored.
    """

    def __init__(
        self,
        entities: Sequence[Entity],
        edges: Sequence[Edge],
        raw_facts: Callable[[], RawFacts],
        now: int,
        *,
        gone: Collection[str] = (),
        fields: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self.now = now
        self.entities: Mapping[str, Entity] = {entity.id: entity for entity in entities}
        self.edges = tuple(edges)
        self._out: defaultdict[str, list[Edge]] = defaultdict(list)
        self._in: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in edges:
            self._out[edge[0]].append(edge)
            self._in[edge[2]].append(edge)
        self._kinds: dict[str, list[Entity]] = {}
        for entity in sorted(entities, key=attrgetter("name", "id")):
            if entity.id not in gone:
                self._kinds.setdefault(entity.kind, []).append(entity)
        self._load_facts = raw_facts
        self._fields = fields
        self._raw: RawFacts | None = None
        self._decoded: dict[str, dict[str, Any]] = {}
        self._links: dict[tuple[str, bool], tuple[Link, ...]] = {}
        self._homes: dict[str, tuple[str, str]] = {}
        self._made: dict[str, Any] = {}
        self._placed: dict[str, dict[tuple[str, str], list[Entity]]] = {}
        self._named: dict[str, dict[tuple[str, str, str], Entity]] = {}

    def facts(self, entity: str) -> Mapping[str, Any]:
        """Field to value of one entity, now; empty where nothing is known."""
        found = self._decoded.get(entity)
        if found is None:
            if self._raw is None:
                self._raw = self._load_facts()
            raw = self._raw.get(entity, {})
            found = {field: orjson.loads(text) for field, text in raw.items()}
            self._decoded[entity] = found
        return found

    def fact(self, entity: str, field: str) -> Any:
        """One value, ``None`` where nothing is known."""
        return self.facts(entity).get(field)

    def tells(self, field: str) -> bool:
        """Whether any fact may name a field, now or at another time."""
        return self._fields is None or field in self._fields()

    def of_kind(self, *kinds: str) -> list[Entity]:
        """Entities of the given kinds that exist, by name."""
        return [entity for kind in kinds for entity in self._kinds.get(kind, ())]

    def all_out(self, entity: str) -> Sequence[Edge]:
        """Every edge that ever started at ``entity``, whether it holds or not."""
        return self._out.get(entity, ())

    def all_into(self, entity: str) -> Sequence[Edge]:
        """Every edge that ever ended at ``entity``, whether it holds or not."""
        return self._in.get(entity, ())

    def out(self, entity: str, *predicates: str) -> list[Entity]:
        """What ``entity`` points at now, through any or the given predicates."""
        return self._ends(self._out.get(entity, ()), predicates, forward=True)

    def into(self, entity: str, *predicates: str) -> list[Entity]:
        """What points at ``entity`` now, through any or the given predicates."""
        return self._ends(self._in.get(entity, ()), predicates, forward=False)

    def _ends(
        self, edges: Iterable[Edge], predicates: Sequence[str], *, forward: bool
    ) -> list[Entity]:
        return [
            self.entities[edge.dst if forward else edge.src]
            for edge in edges
            if (not predicates or edge.pred in predicates) and edge.holds(self.now, self.now)
        ]

    def links(self, entity: str, *, belonging: bool) -> tuple[Link, ...]:
        """What ``entity`` connects to now in either direction, each once; use before belonging."""
        found = self._links.get((entity, belonging))
        if found is None:
            near: dict[str, Link] = {}
            ways = [(edge, "out", edge.dst) for edge in self.all_out(entity)]
            ways += [(edge, "in", edge.src) for edge in self.all_into(entity)]
            for edge, way, other in ways:
                if not edge.holds(self.now, self.now):
                    continue
                if edge.pred in BELONGING and not belonging:
                    continue
                if other not in near or near[other].predicate in BELONGING:
                    near[other] = Link(other, edge.pred, way)
            found = tuple(sorted(near.values(), key=lambda one: (one.predicate in BELONGING, one)))
            self._links[(entity, belonging)] = found
        return found

    def namespace(self, entity: Entity) -> tuple[str, str]:
        """Cluster and namespace; the latter from the fact, else from ``part_of``, else empty."""
        found = self._homes.get(entity.id)
        if found is None:
            name = self.fact(entity.id, "namespace")
            if not isinstance(name, str):
                homes = [one for one in self.out(entity.id, "part_of") if one.kind == "Namespace"]
                name = homes[0].name if homes else ""
            found = self._homes[entity.id] = (entity.cluster, name)
        return found

    def once(self, name: str, make: Callable[[Snapshot], T]) -> T:
        """What ``make`` finds in this moment, made when first asked for by that name."""
        if name not in self._made:
            self._made[name] = make(self)
        found: T = self._made[name]
        return found

    def pods_in(self, place: tuple[str, str]) -> Sequence[Entity]:
        """The pods of one (cluster, namespace), by name."""
        return self.in_place("Pod", place)

    def in_place(self, kind: str, place: tuple[str, str]) -> Sequence[Entity]:
        """What there is of one kind in a (cluster, namespace), by name."""
        placed = self._placed.get(kind)
        if placed is None:
            placed = self._placed[kind] = {}
            for entity in self.of_kind(kind):
                placed.setdefault(self.namespace(entity), []).append(entity)
        return placed.get(place, ())

    def named(self, kind: str, place: tuple[str, str], name: str) -> Entity | None:
        """The entity of a kind and name in a (cluster, namespace), ``None`` without one.

        What lives in no namespace has an empty one.
        """
        named = self._named.get(kind)
        if named is None:
            named = self._named[kind] = {
                (*self.namespace(entity), entity.name): entity for entity in self.of_kind(kind)
            }
        return named.get((*place, name))
