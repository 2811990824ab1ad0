"""A workload whose limits exceed what its namespace allows a container."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.owners import severity
from heldout.graph.ontology import WORKLOADS
from heldout.graph.owners import is_wanted, owners
from heldout.graph.quantities import amount
from heldout.graph.reading import record
from heldout.graph.snapshot import Entity, Snapshot


@dataclass(frozen=True, slots=True)
class RefusedByLimitRange:
    """Fires when a container's declared limit is above a LimitRange's maximum."""

    name: str = "refused-by-limit-range"
    needs: tuple[str, ...] = ("container_max", "container_resources")
    silent_when: str = (
        "the container declares no limit (it gets the default); the LimitRange has no maximum for "
        "containers; the workload is scaled to zero, suspended or has ended"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each workload, container and resource, told of the topmost workload."""
        for limit_range in snapshot.of_kind("LimitRange"):
            if not snapshot.fact(limit_range.id, "container_max"):
                continue
            place = snapshot.namespace(limit_range)
            for workload in (one for kind in WORKLOADS for one in snapshot.in_place(kind, place)):
                is_top = not any(one.kind in WORKLOADS for one in owners(snapshot, workload))
                if is_top and is_wanted(snapshot, workload):
                    yield from self._refused(snapshot, workload, limit_range)

    def _refused(
        self, snapshot: Snapshot, workload: Entity, limit_range: Entity
    ) -> Iterator[Finding]:
        most = record(snapshot.fact(limit_range.id, "container_max"))
        said = record(snapshot.fact(workload.id, "container_resources"))
        for container, resources in said.items():
            for resource, limit in record(record(resources).get("limits")).items():
                asked, allowed = amount(limit), amount(most.get(resource))
                if asked is not None and allowed is not None and asked > allowed:
                    yield Finding(
                        self.name,
                        workload.id,
                        severity(snapshot, workload),
                        f"container {container} has a {resource} limit of {limit} and LimitRange "
                        f"{limit_range.name} allows {most[resource]}: new pods are refused",
                        ("container_resources",),
                    )


CHECK = RefusedByLimitRange()
