"""A volume that one pod holds while another waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.snapshot import Entity, Snapshot

_SINGLE = (["ReadWriteOnce"], ["ReadWriteOncePod"])


@dataclass(frozen=True, slots=True)
class VolumeHeldElsewhere:
    """Fires when a single-writer claim has a Running holder and a distinct Pending waiter."""

    name: str = "volume-held-elsewhere"
    needs: tuple[str, ...] = ("access_modes",)
    silent_when: str = (
        "the claim may be shared by mode; nobody runs with it or nobody waits for it; holder and "
        "waiter are on the same node (ReadWriteOnce is per node)"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such claim."""
        for claim in snapshot.of_kind("Pvc"):
            modes = snapshot.fact(claim.id, "access_modes")
            if modes not in _SINGLE:
                continue
            pods = [one for one in snapshot.into(claim.id, "mounts") if one.kind == "Pod"]
            holders = _in_phase(snapshot, pods, "Running")
            waiters = _in_phase(snapshot, pods, "Pending")
            for holder, waiter in ((h, w) for h in holders for w in waiters):
                if _same_node(snapshot, holder, waiter) and modes == ["ReadWriteOnce"]:
                    continue
                yield Finding(
                    self.name,
                    claim.id,
                    "critical",
                    f"single-writer volume: pod {holder.name} holds it and pod {waiter.name} "
                    "waits for it",
                    ("access_modes",),
                )
                break


def _in_phase(snapshot: Snapshot, pods: list[Entity], phase: str) -> list[Entity]:
    found = {pod for pod in pods if snapshot.fact(pod.id, "phase") == phase}
    return sorted(found, key=lambda one: (one.name, one.id))


def _same_node(snapshot: Snapshot, one: Entity, other: Entity) -> bool:
    node = snapshot.fact(one.id, "node")
    return bool(node) and node == snapshot.fact(other.id, "node")


CHECK = VolumeHeldElsewhere()
