"""A pod that runs with less memory than its template says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.owners import ENDED
from heldout.graph.quantities import amount
from heldout.graph.reading import record
from heldout.graph.snapshot import Entity, Snapshot

_FIXED = ("ReplicaSet", "Job")
"""Kinds whose template never changes, so that a pod that differs was altered on admission."""


@dataclass(frozen=True, slots=True)
class RewrittenMemoryLimit:
    """Fires when a container's memory limit is below that of the template its pod is made from."""

    name: str = "rewritten-memory-limit"
    needs: tuple[str, ...] = ("container_resources",)
    silent_when: str = (
        "the template declares no limit (a default was filled in); the container was added on "
        "admission; a vertical autoscaler or a resize in place set it; the pod's controller is of "
        "a kind whose template may have changed since"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each controller and container."""
        for pod in snapshot.of_kind("Pod"):
            facts = snapshot.facts(pod.id)
            if facts.get("phase") in ENDED or facts.get("resized"):
                continue
            for maker in snapshot.out(pod.id, "controlled_by"):
                if maker.kind in _FIXED:
                    for container, live, meant in _lowered(snapshot, pod, maker):
                        yield Finding(
                            self.name,
                            pod.id,
                            "critical",
                            f"container {container} is limited to {live} of memory where its "
                            f"template says {meant}: it was rewritten on admission",
                            ("container_resources",),
                        )


def _lowered(snapshot: Snapshot, pod: Entity, maker: Entity) -> Iterator[tuple[str, str, str]]:
    meant = record(snapshot.fact(maker.id, "container_resources"))
    for container, said in record(snapshot.fact(pod.id, "container_resources")).items():
        live = record(record(said).get("limits")).get("memory")
        wanted = record(record(meant.get(container)).get("limits")).get("memory")
        has, should = amount(live), amount(wanted)
        if has is not None and should is not None and has < should:
            yield container, str(live), str(wanted)


CHECK = RewrittenMemoryLimit()
