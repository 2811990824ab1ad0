"""Something that was deleted long ago and is still there, held by a finalizer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.ontology import K8S_KINDS
from heldout.graph.reading import minutes_since
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.finalizers import held_by, protector

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
            holding = held_by(facts)
            if since is None or not holding or since < PATIENCE_MINUTES:
                continue
            if protector(snapshot, entity) is None:
                yield Finding(
                    self.name,
                    entity.id,
                    "warning",
                    f"deleted at {facts['deleting_since']} and still there: finalizer {holding[0]} "
                    "was never taken away",
                    ("finalizers", "deleting_since"),
                )


CHECK = StuckDeletion()
