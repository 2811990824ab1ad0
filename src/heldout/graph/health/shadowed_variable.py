"""A variable that one container sets twice to different values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.owners import wanted
from heldout.graph.owners import owners
from heldout.graph.reading import record, rows
from heldout.graph.snapshot import Entity, Snapshot


@dataclass(frozen=True, slots=True)
class ShadowedVariable:
    """Fires when one name is set twice in a container's ``env`` and the values differ."""

    name: str = "shadowed-variable"
    needs: tuple[str, ...] = ("repeated_env",)
    silent_when: str = (
        "the values are the same once resolved; one of them cannot be resolved (it comes from the "
        "pod's own fields, or its ConfigMap or Secret was not observed); env overrides envFrom, "
        "which is what it is for; the workload is scaled to zero or has ended"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each workload and variable, told of the topmost workload."""
        for entity in wanted(snapshot):
            for said in rows(snapshot.fact(entity.id, "repeated_env")):
                if any(
                    said in rows(snapshot.fact(owner.id, "repeated_env"))
                    for owner in owners(snapshot, entity)
                ):
                    continue
                given = said.get("values")
                values = [
                    _resolved(snapshot, entity, one)
                    for one in (given if isinstance(given, list) else ())
                ]
                if None not in values and len(set(values)) > 1:
                    yield Finding(
                        self.name,
                        entity.id,
                        "warning",
                        f"container {said.get('container')} sets {said.get('variable')} "
                        f"{len(values)} times to different values; only the last one counts",
                        (f"env.{said.get('variable')}", "repeated_env"),
                    )


def _resolved(snapshot: Snapshot, entity: Entity, value: Any) -> str | None:
    """What a variable is set to, ``None`` where that cannot be known."""
    if isinstance(value, str):
        return None if "$(" in value else value
    place = snapshot.namespace(entity)
    for source, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        asked = record(record(value).get(source))
        name = asked.get("name")
        found = snapshot.named(kind, place, name) if isinstance(name, str) else None
        if found is not None:
            held = snapshot.fact(found.id, f"data.{asked.get('key')}")
            return held if isinstance(held, str) else None
    return None


CHECK = ShadowedVariable()
