"""A Service that leads to a named port which none of its pods has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.reading import rows
from heldout.graph.snapshot import Snapshot
from heldout.graph.status import is_ready, selected_pods


@dataclass(frozen=True, slots=True)
class TargetPortUnnamed:
    """Fires when a ``targetPort`` is a name that no selected ready pod gives to a port."""

    name: str = "target-port-unnamed"
    needs: tuple[str, ...] = ("container_resources", "ports")
    silent_when: str = (
        "the target port is a number (numbers need not be declared); a selected ready pod has a "
        "port of that name; no pod is selected, or the ports of one were not observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such port of a Service."""
        for service in snapshot.of_kind("K8sService"):
            wanted = [
                target
                for port in rows(snapshot.fact(service.id, "ports"))
                if isinstance(target := port.get("targetPort"), str) and not target.isdigit()
            ]
            if not wanted:
                continue
            pods = [
                pod
                for pod in selected_pods(snapshot, service)
                if is_ready(snapshot.facts(pod.id))
                and "container_resources" in snapshot.facts(pod.id)
            ]
            names = {
                str(one.get("name"))
                for pod in pods
                for one in rows(snapshot.fact(pod.id, "container_ports"))
            }
            for target in wanted:
                if pods and target not in names:
                    yield Finding(
                        self.name,
                        service.id,
                        "critical",
                        f"leads to port '{target}', a name that none of its {len(pods)} ready pods "
                        f"(such as {pods[0].name}) gives to a port",
                        ("ports",),
                    )


CHECK = TargetPortUnnamed()
