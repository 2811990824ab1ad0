"""A pod that may not use the cluster's DNS and was given no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.ontology import WORKLOADS
from heldout.graph.snapshot import Snapshot


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
            if facts.get("dns_policy") != "None" or facts.get("phase") in ("Succeeded", "Failed"):
                continue
            if not _servers(facts.get("dns_config")):
                yield Finding(
                    self.name,
                    entity.id,
                    "critical",
                    "dnsPolicy is None and dnsConfig names no server: no name can be resolved",
                    ("dns_policy", "dns_config"),
                )


def _servers(config: Any) -> bool:
    return isinstance(config, Mapping) and bool(config.get("nameservers"))


CHECK = DnsPolicyNone()
