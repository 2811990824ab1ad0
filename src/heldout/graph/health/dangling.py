"""Names that lead nowhere: one rule for all that refers to something by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.owners import is_wanted, owners, severity
from heldout.graph.health.reading import is_listed, rows, said_place
from heldout.graph.ontology import WORKLOADS
from heldout.graph.snapshot import Entity, Snapshot

UNLISTED = (
    "not everything of the kind was listed there, so that what is missing may only not have been "
    "asked for"
)
MAKERS = (*WORKLOADS, "Pod")

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


def mentioned(
    snapshot: Snapshot, kind: str, holders: tuple[str, ...]
) -> Iterator[tuple[Entity, Mapping[str, Any]]]:
    """What is referred to and must be there, each once for a holder.

    Of a workload and what it makes only the topmost that says so counts, and of what is scaled to
    zero, suspended or ended nothing does.
    """
    for entity in snapshot.of_kind(*holders):
        told: set[tuple[Any, ...]] = set()
        for said in rows(snapshot.fact(entity.id, "references")):
            mark = _mark(said)
            if said.get("kind") != kind or said.get("optional") or mark in told:
                continue
            if not isinstance(said.get("name"), str):
                continue
            told.add(mark)
            if entity.kind in MAKERS and (
                not is_wanted(snapshot, entity) or _told_above(snapshot, entity, mark)
            ):
                continue
            yield entity, said


def _mark(said: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(str(said.get(part)) for part in ("kind", "namespace", "name"))


def _told_above(snapshot: Snapshot, entity: Entity, mark: tuple[Any, ...]) -> bool:
    return any(
        mark == _mark(said)
        for owner in owners(snapshot, entity)
        for said in rows(snapshot.fact(owner.id, "references"))
    )
