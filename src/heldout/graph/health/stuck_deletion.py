"""Something that was deleted long ago and is still there, held by a finalizer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.owners import is_wanted
from heldout.graph.health.reading import minutes_since, texts
from heldout.graph.ontology import K8S_KINDS
from heldout.graph.snapshot import Entity, Snapshot

PATIENCE_MINUTES = 60.0
"""How long a finalizer may take before it is a fault."""


@dataclass(frozen=True, slots=True)
class StuckDeletion:
    """Fires when a deletion waits for a finalizer for more than an hour."""

    name: str = "stuck-deletion"
    needs: tuple[str, ...] = ("deleting_since", "finalizers")
    silent_when: str = (
        f"it was deleted less than {PATIENCE_MINUTES:.0f} minutes ago (controllers clean up "
        "first); it has no finalizer; it is a claim that a pod still uses or a volume that is "
        "still bound (they are protected on purpose)"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such object."""
        for entity in snapshot.of_kind(*K8S_KINDS):
            facts = snapshot.facts(entity.id)
            since = minutes_since(snapshot, facts.get("deleting_since"))
            holding = texts(facts.get("finalizers"))
            if since is None or not holding or since < PATIENCE_MINUTES:
                continue
            if not _is_protected(snapshot, entity):
                yield Finding(
                    self.name,
                    entity.id,
                    "warning",
                    f"deleted at {facts['deleting_since']} and still there: finalizer {holding[0]} "
                    "was never taken away",
                    ("finalizers", "deleting_since"),
                )


def _is_protected(snapshot: Snapshot, entity: Entity) -> bool:
    if entity.kind == "Pvc":
        return any(
            one.kind == "Pod" and is_wanted(snapshot, one)
            for one in snapshot.into(entity.id, "mounts")
        )
    return entity.kind == "PersistentVolume" and snapshot.fact(entity.id, "phase") == "Bound"


CHECK = StuckDeletion()
