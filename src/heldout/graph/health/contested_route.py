"""Two Ingresses that claim one host and path and lead to different Services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.reading import rows
from heldout.graph.snapshot import Entity, Snapshot

Route = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class ContestedRoute:
    """Fires when Ingresses of one class claim the same host and path for different Services."""

    name: str = "contested-route"
    needs: tuple[str, ...] = ("routes", "references")
    silent_when: str = (
        "the classes differ, or an Ingress names none; both lead to the same Service; one is "
        "annotated as canary or as to be merged; the kinds of path differ (exact and prefix)"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each Ingress and route, told of the one that comes later by name."""
        first: dict[Route, tuple[Entity, tuple[str, ...]]] = {}
        for ingress in snapshot.of_kind("Ingress"):
            if snapshot.fact(ingress.id, "merged_by"):
                continue
            for route, where in _routes(snapshot, ingress):
                leads = _leads_to(snapshot, ingress, where)
                rival, other = first.setdefault(route, (ingress, leads))
                if rival is not ingress and leads and other and leads != other:
                    yield Finding(
                        self.name,
                        ingress.id,
                        "warning",
                        f"claims {where}, as Ingress {rival.name} does for another Service: which "
                        "one is served is up to the controller",
                        ("routes",),
                    )


def _routes(snapshot: Snapshot, ingress: Entity) -> Iterator[tuple[Route, str]]:
    facts = snapshot.facts(ingress.id)
    kind, said = facts.get("class"), facts.get("routes")
    if not isinstance(kind, str) or not kind or not isinstance(said, list):
        return
    for one in said:
        if isinstance(one, list) and len(one) == 3:
            host, path, how = map(str, one)
            yield (ingress.cluster, f"{kind} {host}", path, how), f"{host or '*'}{path}"


def _leads_to(snapshot: Snapshot, ingress: Entity, where: str) -> tuple[str, ...]:
    said = rows(snapshot.fact(ingress.id, "references"))
    found = {str(one.get("name")) for one in said if one.get("via") == f"rules.{where}"}
    return (*snapshot.namespace(ingress), *sorted(found)) if found else ()


CHECK = ContestedRoute()
