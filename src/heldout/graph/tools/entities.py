"""Entities: by name, with their fields, and what they are connected to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson
from rapidfuzz import fuzz, process

from heldout.graph.ontology import BELONGING, PREDICATES, near
from heldout.graph.snapshot import Edge, Entity
from heldout.graph.status import status_from_facts
from heldout.graph.tools.backend import Args
from heldout.graph.tools.page import Page, clip_value, iso
from heldout.graph.tools.reader import Reader, sliced
from heldout.graph.tools.refusals import Refusal
from heldout.graph.world import Names

_PREDICATE_ORDER = {
    name: (name in BELONGING, index) for index, name in enumerate(PREDICATES)
}  # fmt: skip
_FUZZY_FROM = 72


def search_entities(reader: Reader, args: Args) -> Page:
    """Entities whose name, id or external id looks like ``query``, best first."""
    cluster = args.get("cluster")
    if cluster is not None and cluster not in reader.world.clusters:
        raise Refusal(
            "bad_argument",
            f"there is no cluster '{cluster[:60]}'",
            near(cluster, reader.world.clusters) or reader.world.clusters[:8],
        )
    kinds = frozenset(args.get("kinds") or ())
    pool = [
        one
        for one in reader.world.names
        if (not kinds or one.entity.kind in kinds)
        and (cluster is None or one.entity.cluster == cluster)
    ]
    found = _ranked(str(args["query"]).strip().casefold(), pool)
    offset, limit = args["offset"], args["limit"]
    rows = [
        {
            "id": one.id,
            "kind": one.kind,
            "name": one.name,
            "cluster": one.cluster,
            "status": reader.status(one),
        }
        for one in found[offset : offset + limit]
    ]
    return Page(rows, total=len(found), offset=offset, gaps=reader.gaps("graph", None))


def _ranked(query: str, pool: Sequence[Names]) -> list[Entity]:
    words = query.split()
    ranked: list[tuple[int, float, str, str, Entity]] = []
    rest: dict[str, Names] = {}
    for one in pool:
        rank = _rank(query, words, one)
        if rank is not None:
            ranked.append((rank, len(one.name), one.name, one.entity.id, one.entity))
        else:
            rest[one.entity.id] = one
    if query and not any(row[0] <= 3 for row in ranked):
        names = {key: one.name for key, one in rest.items()}
        for name, score, key in process.extract(
            query[:200], names, scorer=fuzz.WRatio, limit=100, score_cutoff=_FUZZY_FROM
        ):
            ranked.append((9, -score, name, key, rest[key].entity))
    ranked.sort(key=lambda row: row[:4])
    return [row[4] for row in ranked]


def _rank(query: str, words: Sequence[str], one: Names) -> int | None:
    if query in (one.name, one.entity.id):
        return 0
    if query in one.name:
        return 1 if one.name.startswith(query) else 2
    if query in one.external_id:
        return 3
    return 4 if words and all(word in one.text for word in words) else None


def get_entity(reader: Reader, args: Args) -> Page:
    """One entity and its fields at a time; before it was made anew, those of the one before."""
    entity = reader.entity(args["id"])
    at = min(args.get("as_of", reader.now), reader.now)
    shown_as = reader.world.incarnations.at(entity.id, at)
    fields = facts_at(reader, entity.id, at)
    wanted = args.get("fields")
    if wanted and shown_as is None:
        raise Refusal("bad_argument", f"{entity.name} did not exist at {iso(at)}")
    if wanted:
        for name in wanted:
            if name not in fields:
                raise Refusal(
                    "bad_argument",
                    f"{entity.name} has no field '{name[:80]}' at {iso(at)}",
                    near(name, fields) or tuple(fields)[:8],
                )
        fields = {name: fields[name] for name in fields if name in wanted}
    shown = list(fields.items())[args["offset"] :]
    row = {
        "id": entity.id,
        "kind": entity.kind,
        "name": entity.name,
        "external_id": entity.external_id,
        "cluster": entity.cluster,
        "first_seen": iso(entity.first_seen),
        "last_seen": iso(min(entity.last_seen, reader.now)),
        **reader.lives(entity.id),
        **_incarnation(entity, shown_as),
        "fields": {name: fact.shown() for name, fact in shown},
    }
    gaps = reader.gaps("graph", None, (entity.id,))
    return Page([row], total=len(fields), offset=args["offset"], gaps=gaps, part="fields")


class Fact(NamedTuple):
    """What held of one field, since when, and who said so."""

    value: Any
    since: int
    provenance: str
    confidence: float
    source: str

    def shown(self) -> dict[str, Any]:
        """As it appears in an answer."""
        return {
            "value": clip_value(self.value),
            "since": iso(self.since),
            "provenance": self.provenance,
            "confidence": round(self.confidence, 2),
            "source": self.source,
        }


def _incarnation(entity: Entity, shown_as: str | None) -> dict[str, Any]:
    """Whose fields are shown, where they are not those of the entity that was asked for."""
    return {} if shown_as == entity.id else {"incarnation": shown_as}


def facts_at(reader: Reader, entity: str, at: int) -> dict[str, Fact]:
    """Fields that hold at ``at``, by name: of one entity or the incarnation before it."""
    one = reader.world.incarnations.at(entity, at)
    held = reader.world.facts.at(one or "", at)
    return {
        field: Fact(
            orjson.loads(row.value_json), row.valid_from, row.provenance, row.confidence, row.source
        )
        for field, row in held.items()
    }


class _Reached(NamedTuple):
    entity: Entity
    edge: Edge
    direction: str
    depth: int
    via: Entity


def get_neighbors(reader: Reader, args: Args) -> Page:
    """What an entity is connected to, nearest first."""
    start = reader.entity(args["id"])
    predicates = frozenset(args.get("predicates") or ())
    depth = args.get("depth", 1)
    if depth > 2 and not predicates:
        raise Refusal("bad_argument", "'depth' 3 needs 'predicates': name the edges to follow")
    at = min(args.get("as_of", reader.now), reader.now)
    found = _walk(reader, start, predicates, args.get("direction", "both"), depth, at)
    offset, limit = args["offset"], args["limit"]
    rows = [_neighbor(reader, one, at) for one in found[offset : offset + limit]]
    gaps = reader.gaps("graph", None, (start.id,))
    return Page(rows, total=len(found), offset=offset, gaps=gaps)


def _neighbor(reader: Reader, one: _Reached, at: int) -> dict[str, Any]:
    if at == reader.now:
        status = reader.status(one.entity)
    else:
        facts = {name: fact.value for name, fact in facts_at(reader, one.entity.id, at).items()}
        status = status_from_facts(one.entity.kind, facts)
    row = {
        "id": one.entity.id,
        "kind": one.entity.kind,
        "name": one.entity.name,
        "predicate": one.edge.pred,
        "direction": one.direction,
        "depth": one.depth,
        "provenance": one.edge.provenance,
        "confidence": round(one.edge.confidence, 2),
        "status": status,
    }
    if one.depth > 1:
        row["via"] = one.via.name
        row["via_id"] = one.via.id
    return row


def _walk(
    reader: Reader,
    start: Entity,
    predicates: frozenset[str],
    direction: str,
    depth: int,
    at: int,
) -> list[_Reached]:
    """Breadth first; an entity appears at its smallest depth, once for each edge to it there."""
    seen = {start.id}
    layer = [start]
    found: list[_Reached] = []
    for level in range(1, depth + 1):
        reached: list[_Reached] = []
        for source in layer:
            for edge, way, other in steps(reader, source.id, direction, at):
                if (not predicates or edge.pred in predicates) and other not in seen:
                    entity = reader.graph.entities[other]
                    reached.append(_Reached(entity, edge, way, level, source))
        unique = {(one.entity.id, one.edge.pred, one.direction): one for one in reversed(reached)}
        found.extend(
            sorted(
                unique.values(),
                key=lambda one: (
                    _PREDICATE_ORDER[one.edge.pred], one.direction, one.entity.name, one.entity.id,
                ),
            )
        )  # fmt: skip
        layer = sorted({one.entity for one in reached}, key=lambda one: (one.name, one.id))
        seen.update(one.id for one in layer)
    return found


def steps(reader: Reader, entity: str, direction: str, at: int) -> Iterable[tuple[Edge, str, str]]:
    """Edges that hold at ``at`` with their direction and the other end, in a stable order."""
    if direction in ("out", "both"):
        for edge in reader.graph.all_out(entity):
            if edge.holds(at, reader.now):
                yield edge, "out", edge.dst
    if direction in ("in", "both"):
        for edge in reader.graph.all_into(entity):
            if edge.holds(at, reader.now):
                yield edge, "in", edge.src


def compare_state(reader: Reader, args: Args) -> Page:
    """Fields that differ between two times of one entity, or between two entities."""
    left = reader.entity(args["entity"])
    right = reader.entity(args["entity_b"]) if "entity_b" in args else left
    if right is left and "t1" not in args:
        raise Refusal(
            "missing_argument", "compare_state needs 't1' (and 't2'), or 'entity_b' to compare with"
        )
    left_at = min(args.get("t1", args.get("t2", reader.now)), reader.now)
    incarnations = reader.world.incarnations
    one_object = incarnations.same(left.id, right.id)
    right_at = min(args.get("t2", reader.now if one_object else left_at), reader.now)
    one, two = facts_at(reader, left.id, left_at), facts_at(reader, right.id, right_at)
    rows = []
    for field in sorted(one.keys() | two.keys()):
        a, b = one.get(field), two.get(field)
        if a is None or b is None or a.value != b.value:
            rows.append(
                {
                    "field": field,
                    "left": clip_value(a.value) if a else None,
                    "right": clip_value(b.value) if b else None,
                }
            )
    extra = {
        "left": {
            "id": left.id,
            "name": left.name,
            "at": iso(left_at),
            **_incarnation(left, incarnations.at(left.id, left_at)),
        },
        "right": {
            "id": right.id,
            "name": right.name,
            "at": iso(right_at),
            **_incarnation(right, incarnations.at(right.id, right_at)),
        },
        "equal_fields": len(one.keys() | two.keys()) - len(rows),
    }
    return sliced(rows, args, gaps=reader.gaps("graph", None, (left.id, right.id)), extra=extra)
