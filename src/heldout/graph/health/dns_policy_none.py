"""A pod that may not use the cluster's DNS and was given no other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.ontology import WORKLOADS
from heldout.graph.owners import ENDED
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.dns import lacks_resolver


@dataclass(frozen=True, slots=True)
class DnsPolicyNone:
    """Fires when ``dnsPolicy`` is ``None`` and ``dnsConfig`` names no server."""

    name: str = "dns-policy-none"
    needs: tuple[str, ...] = ("dns_policy",)
    silent_when: str = (
        "dnsConfig names at least one server (a resolver of one's own is legal); the pod has ended"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such workload or pod."""
        for entity in snapshot.of_kind(*WORKLOADS, "Pod"):
            facts = snapshot.facts(entity.id)
            if lacks_resolver(facts) and facts.get("phase") not in ENDED:
                yield Finding(
                    self.name,
                    entity.id,
                    "critical",
                    "dnsPolicy is None and dnsConfig names no server: no name can be resolved",
                    ("dns_policy", "dns_config"),
                )


CHECK = DnsPolicyNone()
