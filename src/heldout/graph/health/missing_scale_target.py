"""An autoscaler whose target is not there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.dangling import UNLISTED, Dangling
from heldout.graph.snapshot import Snapshot

_SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet")


@dataclass(frozen=True, slots=True)
class MissingScaleTarget:
    """Fires when a HorizontalPodAutoscaler names a workload that is not there."""

    name: str = "missing-scale-target"
    needs: tuple[str, ...] = ("references", "listed")
    silent_when: str = f"the target is of a kind of its own (a custom resource); {UNLISTED}"

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such autoscaler."""
        for kind in _SCALABLE:
            yield from Dangling(
                name=self.name,
                silent_when=self.silent_when,
                kind=kind,
                holders=("Hpa",),
                text="it scales nothing",
                grade="critical",
            ).findings(snapshot)


CHECK = MissingScaleTarget()
