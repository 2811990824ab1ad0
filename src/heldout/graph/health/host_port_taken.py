"""A pod that waits for a port of the node which another pod has on every node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.placement import names_of, waiting
from heldout.graph.owners import ENDED
from heldout.graph.reading import rows
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.scheduling import suits, untolerated

_ANY = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class HostPortTaken:
    """Fires when each node that fits an unschedulable pod has a pod with the same host port."""

    name: str = "host-port-taken"
    needs: tuple[str, ...] = ("unschedulable", "host_ports")
    silent_when: str = (
        "the pod asks for no host port; one node that fits has the port free; the other pod has it "
        "for another protocol or address; the scheduler did not say that the pod cannot be placed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such pod."""
        for pod, facts, nodes in waiting(snapshot):
            wanted = rows(facts.get("host_ports"))
            fit = [
                (node, known)
                for node, known in nodes
                if suits(facts.get("node_affinity"), node, known)
                and not untolerated(facts.get("tolerations"), known)
            ]
            if not wanted or not fit:
                continue
            holders = [_holder(snapshot, node, wanted) for node, _ in fit]
            first = holders[0]
            if first is not None and all(holders):
                yield Finding(
                    self.name,
                    pod.id,
                    "critical",
                    f"Pending: on {names_of(fit)} its host port {wanted[0].get('port')} is taken "
                    f"(by pod {first.name})",
                    ("host_ports", "phase"),
                )


def _holder(snapshot: Snapshot, node: Entity, wanted: list[Mapping[str, Any]]) -> Entity | None:
    for pod in snapshot.of_kind("Pod"):
        facts = snapshot.facts(pod.id)
        if (
            pod.cluster == node.cluster
            and facts.get("node") == node.name
            and facts.get("phase") not in ENDED
            and any(
                _collide(one, other) for one in rows(facts.get("host_ports")) for other in wanted
            )
        ):
            return pod
    return None


def _collide(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if (one.get("port"), one.get("protocol")) != (other.get("port"), other.get("protocol")):
        return False
    addresses = (one.get("address"), other.get("address"))
    return addresses[0] == addresses[1] or _ANY in addresses


CHECK = HostPortTaken()
