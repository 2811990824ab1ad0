"""A key that pods need of a ConfigMap or Secret that does not have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.dangling import MAKERS
from heldout.graph.health.owners import severity
from heldout.graph.owners import is_wanted, owners
from heldout.graph.reading import is_listed, rows, said_place
from heldout.graph.snapshot import Entity, Snapshot


@dataclass(frozen=True, slots=True)
class MissingKey:
    """Fires when a key is read of a ConfigMap or Secret that is there and lacks it."""

    name: str = "missing-key"
    needs: tuple[str, ...] = ("references", "listed")
    silent_when: str = (
        "the reference is optional; the whole object is read, not a key; the object was only "
        "declared (who writes its data may come later); the holder is scaled to zero, suspended "
        "or has ended"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each holder and key, told of the topmost holder."""
        for entity in snapshot.of_kind(*MAKERS):
            for said in rows(snapshot.fact(entity.id, "references")):
                if said.get("optional") or not said.get("key"):
                    continue
                if not self._lacks(snapshot, entity, said) or not is_wanted(snapshot, entity):
                    continue
                if any(
                    said in rows(snapshot.fact(owner.id, "references"))
                    for owner in owners(snapshot, entity)
                ):
                    continue
                yield Finding(
                    self.name,
                    entity.id,
                    severity(snapshot, entity),
                    f"{said.get('via')} reads key {said['key']} of {said['kind']} {said['name']}, "
                    "which has no such key: its containers cannot be made",
                    ("references",),
                )

    @staticmethod
    def _lacks(snapshot: Snapshot, entity: Entity, said: Mapping[str, Any]) -> bool:
        kind, name, place = said.get("kind"), said.get("name"), said_place(entity, said)
        if kind not in ("ConfigMap", "Secret") or not isinstance(name, str):
            return False
        found = snapshot.named(kind, place, name)
        if found is None or not is_listed(snapshot, kind, place):
            return False
        return f"data.{said['key']}" not in snapshot.facts(found.id)


CHECK = MissingKey()
