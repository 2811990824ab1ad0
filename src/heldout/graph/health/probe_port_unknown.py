"""A probe that calls a named port which its container does not have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.owners import owners, severity, wanted
from heldout.graph.health.reading import rows
from heldout.graph.snapshot import Entity, Snapshot


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
            for probe in _lost(snapshot, entity):
                if any(probe in _lost(snapshot, owner) for owner in owners(snapshot, entity)):
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


def _lost(snapshot: Snapshot, entity: Entity) -> list[tuple[str, str, str]]:
    facts = snapshot.facts(entity.id)
    asked = rows(facts.get("probe_ports"))
    if not asked:
        return []
    known = {(str(one.get("container")), str(one.get("name")))
             for one in rows(facts.get("container_ports"))}  # fmt: skip
    said = [(str(one.get("container")), str(one.get("probe")), str(one.get("port")))
            for one in asked]  # fmt: skip
    return [one for one in said if (one[0], one[2]) not in known]


CHECK = ProbePortUnknown()
