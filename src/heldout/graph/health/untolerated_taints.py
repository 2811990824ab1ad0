"""A pod that waits because every node that would fit has a taint it does not tolerate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.placement import names_of, waiting
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.scheduling import suits, untolerated


@dataclass(frozen=True, slots=True)
class UntoleratedTaints:
    """Fires when an unschedulable pod fits nodes by label, and taints keep it off all of them."""

    name: str = "untolerated-taints"
    needs: tuple[str, ...] = ("unschedulable", "taints")
    silent_when: str = (
        "a node that fits has no taint, or only ones that are tolerated or merely preferred (the "
        "pod waits for something else); no node fits by label; the scheduler did not say that the "
        "pod cannot be placed; no node was observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such pod."""
        for pod, facts, nodes in waiting(snapshot):
            fit = [one for one in nodes if suits(facts.get("node_affinity"), *one)]
            kept_off = [untolerated(facts.get("tolerations"), known) for _, known in fit]
            if fit and all(kept_off):
                yield Finding(
                    self.name,
                    pod.id,
                    "critical",
                    f"Pending: {names_of(fit)} has a taint that it does not tolerate (such as "
                    f"{kept_off[0][0].get('key')})",
                    ("tolerations", "phase"),
                )


CHECK = UntoleratedTaints()
