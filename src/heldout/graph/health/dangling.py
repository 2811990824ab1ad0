"""Names that lead nowhere: one rule for all that refers to something by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.owners import severity
from heldout.graph.ontology import WORKLOADS
from heldout.graph.owners import is_wanted, owners
from heldout.graph.reading import is_listed, rows, said_place
from heldout.graph.snapshot import Entity, Snapshot

UNLISTED = (
    "not everything of the kind was listed there, so that what is missing may only not have been "
    "asked for"
)
MAKERS = (*WORKLOADS, "Pod")

_HOLDERS = (
    *MAKERS, "Ingress", "Webhook", "Hpa", "RoleBinding", "ClusterRoleBinding", "Pvc", "K8sService",
)  # fmt: skip
_Mark = tuple[str, str, str]
Mentioned = tuple[Entity, Mapping[str, Any]]
Excuse = Callable[[Snapshot, Entity, Mapping[str, Any]], bool]


def never(snapshot: Snapshot, entity: Entity, said: Mapping[str, Any]) -> bool:
    """No excuse."""
    return False


@dataclass(frozen=True, slots=True)
class Dangling:
    """Fires when ``holders`` name a ``kind`` that is not there although all of it was listed.

    ``excused`` are references that are legal all the same, ``grade`` is the severity, and
    without one it follows from how the holder is.
    """

    name: str
    silent_when: str
    kind: str
    holders: tuple[str, ...]
    text: str
    excused: Excuse = never
    grade: str = ""
    needs: tuple[str, ...] = ("references", "listed")

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each holder and missing name, told of the topmost holder."""
        for entity, said in mentioned(snapshot, self.kind, self.holders):
            place = said_place(entity, said)
            if (
                snapshot.named(self.kind, place, said["name"]) is None
                and is_listed(snapshot, self.kind, place)
                and not self.excused(snapshot, entity, said)
            ):
                yield Finding(
                    self.name,
                    entity.id,
                    self.grade or severity(snapshot, entity),
                    f"{said.get('via')} names {self.kind} {said['name']}, which is not there: "
                    f"{self.text}",
                    ("references",),
                )


def mentioned(snapshot: Snapshot, kind: str, holders: tuple[str, ...]) -> Iterator[Mentioned]:
    """What is referred to and must be there, each once for a holder.

    Of a workload and what it makes only the topmost that says so counts, and of what is scaled to
    zero, suspended or ended nothing does.
    """
    for entity, said in snapshot.once("mentioned", _all_mentioned).get(kind, ()):
        if entity.kind in holders:
            yield entity, said


def _all_mentioned(snapshot: Snapshot) -> dict[str, list[Mentioned]]:
    found: dict[str, list[Mentioned]] = {}
    marks: dict[str, set[_Mark]] = {}

    def told(entity: Entity) -> set[_Mark]:
        if entity.id not in marks:
            said = rows(snapshot.fact(entity.id, "references"))
            marks[entity.id] = {mark for one in said if (mark := _mark(one)) is not None}
        return marks[entity.id]

    for entity in snapshot.of_kind(*_HOLDERS):
        is_maker = entity.kind in MAKERS
        if not told(entity) or (is_maker and not is_wanted(snapshot, entity)):
            continue
        above: set[_Mark] = set()
        if is_maker:
            above = above.union(*(told(owner) for owner in owners(snapshot, entity)))
        for said in rows(snapshot.fact(entity.id, "references")):
            mark = _mark(said)
            if mark is not None and not said.get("optional") and mark not in above:
                above.add(mark)
                found.setdefault(mark[0], []).append((entity, said))
    return found


def _mark(said: Mapping[str, Any]) -> _Mark | None:
    kind, place, name = said.get("kind"), said.get("namespace"), said.get("name")
    if not isinstance(kind, str) or not isinstance(name, str):
        return None
    return kind, place if isinstance(place, str) else "", name
