"""A topology: entities, edges and facts without history, as an importer finds or builds them.

It is the hand-over between what reads real material and what simulates incidents on top of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from heldout.errors import WorldError
from heldout.graph import ontology
from heldout.graph.schema import OPEN_END
from heldout.graph.snapshot import Edge, Entity, Snapshot


@dataclass(frozen=True, slots=True)
class TopologyEntity:
    """One thing. ``id`` is opaque (``e-`` and eight hex digits); ``cluster`` may be empty."""

    id: str
    kind: str
    name: str
    external_id: str = ""
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class TopologyEdge:
    """``src predicate dst`` between entity ids, and who said so."""

    src: str
    predicate: str
    dst: str
    provenance: str = "declared"
    confidence: float = 1.0
    source: str = "k8s"


@dataclass(frozen=True, slots=True)
class TopologyFact:
    """``entity`` has ``field`` = ``value`` (plain JSON data), and who said so."""

    entity: str
    field: str
    value: Any
    provenance: str = "declared"
    confidence: float = 1.0
    source: str = "k8s"


@dataclass(frozen=True, slots=True)
class Topology:
    """Entities, edges and facts in a stable order. ``name`` says where it comes from."""

    entities: Sequence[TopologyEntity]
    edges: Sequence[TopologyEdge] = ()
    facts: Sequence[TopologyFact] = ()
    name: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise :class:`WorldError` at the first thing outside the ontology or dangling."""
        kinds: dict[str, str] = {}
        for entity in self.entities:
            ontology.check_kind(entity.kind, where=f"entity {entity.name}")
            if entity.id in kinds:
                raise WorldError(
                    f"id {entity.id} is given twice",
                    where=f"entity {entity.name}",
                    mend="Make ids unique",
                )
            kinds[entity.id] = entity.kind
        for edge in self.edges:
            where = f"edge {edge.src} {edge.predicate} {edge.dst}"
            for end in (edge.src, edge.dst):
                if end not in kinds:
                    raise WorldError(
                        f"{end} is not an entity", where=where, mend="Add the entity or drop it"
                    )
            ontology.check_edge(kinds[edge.src], edge.predicate, kinds[edge.dst], where=where)
            ontology.check_provenance(edge.provenance, edge.confidence, edge.source, where=where)
        for fact in self.facts:
            where = f"fact {fact.entity}.{fact.field}"
            if fact.entity not in kinds:
                raise WorldError(
                    f"{fact.entity} is not an entity", where=where, mend="Add the entity"
                )
            ontology.check_provenance(fact.provenance, fact.confidence, fact.source, where=where)

    def standing(self, now: int) -> Snapshot:
        """Everything as it stands at ``now`` (microseconds), with no history behind it."""
        facts: dict[str, dict[str, str]] = {}
        for fact in self.facts:
            facts.setdefault(fact.entity, {})[fact.field] = orjson.dumps(fact.value).decode()
        fields = frozenset(fact.field for fact in self.facts)
        return Snapshot(
            [
                Entity(one.id, one.kind, one.name, one.external_id, one.cluster, now, now)
                for one in self.entities
            ],
            [
                Edge(
                    one.src, one.predicate, one.dst, now, OPEN_END, now,
                    one.provenance, one.confidence, one.source,
                )
                for one in self.edges
            ],
            lambda: facts,
            now,
            fields=lambda: fields,
        )  # fmt: skip
