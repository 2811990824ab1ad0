"""Two autoscalers that set the size of one workload."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.reading import rows
from heldout.graph.snapshot import Entity, Snapshot


@dataclass(frozen=True, slots=True)
class RivalAutoscalers:
    """Fires when two HorizontalPodAutoscalers name the same target."""

    name: str = "rival-autoscalers"
    needs: tuple[str, ...] = ("references",)
    silent_when: str = (
        "each target has one autoscaler; targets of one name are of different kinds or in "
        "different namespaces; the target was not observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each target, told of the autoscaler that comes later by name."""
        first: dict[tuple[str, ...], Entity] = {}
        for scaler in snapshot.of_kind("Hpa"):
            for said in rows(snapshot.fact(scaler.id, "references")):
                kind, name = str(said.get("kind")), str(said.get("name"))
                place = snapshot.namespace(scaler)
                if snapshot.named(kind, place, name) is None:
                    continue
                key = (*place, kind, name)
                rival = first.setdefault(key, scaler)
                if rival is not scaler:
                    yield Finding(
                        self.name,
                        scaler.id,
                        "critical",
                        f"sets the size of {kind} {name}, which {rival.name} sets too: they undo "
                        "each other",
                        ("references",),
                    )


CHECK = RivalAutoscalers()
