"""How two entities are connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.graph.ontology import BELONGING
from heldout.graph.snapshot import Entity, Link
from heldout.graph.tools.backend import Args
from heldout.graph.tools.page import Page
from heldout.graph.tools.reader import Reader, sliced

_MOST_PATHS = 100
_MOST_STEPS = 20_000


def find_paths(reader: Reader, args: Args) -> Page:
    """Simple paths in either direction of the edges: through use first, then through belonging."""
    src, dst = reader.entity(args["src"]), reader.entity(args["dst"])
    found: dict[tuple[Link, ...], None] = {}
    for belonging in (False, True):
        links = _Links(reader, belonging=belonging)
        paths = _paths(links, src.id, dst.id, args.get("max_len", 5))
        ranked = sorted(paths, key=lambda path: (len(path), _weight(path), _names(reader, path)))
        found.update(dict.fromkeys(ranked))
    rows = [
        {
            "length": len(path) - 1,
            "path": [_node(reader.graph.entities, hop) for hop in path],
        }
        for path in list(found)[:_MOST_PATHS]
    ]
    return sliced(rows, args, gaps=reader.gaps("graph", None, (src.id, dst.id)))


def _paths(links: _Links, src: str, dst: str, most: int) -> list[tuple[Link, ...]]:
    far = _distances(links, dst, most)
    if src == dst or src not in far:
        return []
    search = _Search(links, far, dst)
    for length in range(far[src], most + 1):
        search.extend((Link(src, "", ""),), length)
        if search.spent or len(search.found) >= _MOST_PATHS:
            break
    return search.found


def _node(entities: Mapping[str, Entity], hop: Link) -> dict[str, Any]:
    entity = entities[hop.entity]
    node = {
        "id": entity.id,
        "name": entity.name,
        "kind": entity.kind,
        "via": hop.predicate or None,
    }
    if hop.direction:
        node["direction"] = hop.direction
    return node


def _weight(path: Sequence[Link]) -> int:
    return sum(hop.predicate in BELONGING for hop in path)


def _names(reader: Reader, path: Sequence[Link]) -> tuple[str, ...]:
    return tuple(f"{reader.name(hop.entity)} {hop.entity} {hop.predicate}" for hop in path)


class _Links:
    """Neighbours now, with or without edges of belonging."""

    def __init__(self, reader: Reader, *, belonging: bool) -> None:
        self._graph = reader.graph
        self._belonging = belonging

    def of(self, entity: str) -> tuple[Link, ...]:
        return self._graph.links(entity, belonging=self._belonging)


def _distances(links: _Links, target: str, most: int) -> dict[str, int]:
    far = {target: 0}
    layer = [target]
    for level in range(1, most + 1):
        reached = [hop.entity for one in layer for hop in links.of(one)]
        layer = [one for one in dict.fromkeys(reached) if one not in far]
        far.update(dict.fromkeys(layer, level))
    return far


class _Search:
    """Depth first over paths of one exact length, cut where the target is out of reach."""

    def __init__(self, links: _Links, far: Mapping[str, int], target: str) -> None:
        self.found: list[tuple[Link, ...]] = []
        self._links = links
        self._far = far
        self._target = target
        self._steps = 0

    @property
    def spent(self) -> bool:
        return self._steps >= _MOST_STEPS

    def extend(self, path: tuple[Link, ...], left: int) -> None:
        """Every way to go on from ``path`` that reaches the target in exactly ``left`` hops."""
        here = path[-1].entity
        if left == 0:
            if here == self._target:
                self.found.append(path)
            return
        if here == self._target:
            return
        visited = {hop.entity for hop in path}
        for hop in self._links.of(here):
            if self.spent or len(self.found) >= _MOST_PATHS:
                return
            self._steps += 1
            if hop.entity not in visited and self._far.get(hop.entity, 99) <= left - 1:
                self.extend((*path, hop), left - 1)
