"""A probe that calls a named port which its container does not have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.owners import severity, wanted
from heldout.graph.owners import owners
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.probes import lost_ports


@dataclass(frozen=True, slots=True)
class ProbePortUnknown:
    """Fires when a probe's port is a name that its own container gives to no port."""

    name: str = "probe-port-unknown"
    needs: tuple[str, ...] = ("probe_ports",)
    silent_when: str = (
        "the probe calls a number (numbers need not be declared); the container has a port of that "
        "name; the workload is scaled to zero or has ended"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each workload and probe, told of the topmost workload."""
        for entity in wanted(snapshot):
            for probe in lost_ports(snapshot.facts(entity.id)):
                above = (snapshot.facts(owner.id) for owner in owners(snapshot, entity))
                if any(probe in lost_ports(facts) for facts in above):
                    continue
                container, kind, port = probe
                yield Finding(
                    self.name,
                    entity.id,
                    severity(snapshot, entity),
                    f"{kind} of container {container} calls port '{port}', a name that the "
                    "container gives to none of its ports: the probe fails",
                    ("probe_ports", "container_ports"),
                )


CHECK = ProbePortUnknown()
