"""A volume that one pod holds while another waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.volumes import rivals


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
            pair = rivals(snapshot, claim)
            if pair is not None:
                yield Finding(
                    self.name,
                    claim.id,
                    "critical",
                    f"single-writer volume: pod {pair[0].name} holds it and pod {pair[1].name} "
                    "waits for it",
                    ("access_modes",),
                )


CHECK = VolumeHeldElsewhere()
