"""An Ingress that calls a port which its Service does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.dangling import mentioned
from heldout.graph.reading import rows, said_place
from heldout.graph.snapshot import Entity, Snapshot


@dataclass(frozen=True, slots=True)
class IngressPortUnknown:
    """Fires when a backend's port is neither a number nor a name of a port of the Service."""

    name: str = "ingress-port-unknown"
    needs: tuple[str, ...] = ("references", "ports")
    silent_when: str = (
        "the Service is an ExternalName or has no ports (a headless one), its ports were not "
        "observed, or the Ingress names no port"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each Ingress and backend."""
        for ingress, said in mentioned(snapshot, "K8sService", ("Ingress",)):
            for backend in rows(snapshot.fact(ingress.id, "references")):
                same = all(backend.get(key) == said.get(key) for key in ("kind", "name"))
                if same and self._lacks(snapshot, ingress, backend):
                    yield Finding(
                        self.name,
                        ingress.id,
                        "critical",
                        f"{backend.get('via')} calls port {backend['port']} of Service "
                        f"{backend['name']}, which has no such port",
                        ("references",),
                    )

    @staticmethod
    def _lacks(snapshot: Snapshot, ingress: Entity, said: Mapping[str, Any]) -> bool:
        service = snapshot.named("K8sService", said_place(ingress, said), said["name"])
        if service is None or snapshot.fact(service.id, "type") == "ExternalName":
            return False
        ports = rows(snapshot.fact(service.id, "ports"))
        known = {str(one.get(key)) for one in ports for key in ("port", "name") if one.get(key)}
        return bool(ports) and said.get("port") is not None and str(said["port"]) not in known


CHECK = IngressPortUnknown()
