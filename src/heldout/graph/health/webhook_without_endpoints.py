"""An admission webhook that must be asked and that nobody answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.dangling import mentioned
from heldout.graph.reading import said_place
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.admission import unanswered


@dataclass(frozen=True, slots=True)
class WebhookWithoutEndpoints:
    """Fires when a webhook that may not be skipped leads to a Service without a ready pod."""

    name: str = "webhook-without-endpoints"
    needs: tuple[str, ...] = ("references", "selector")
    silent_when: str = (
        "the failure policy is Ignore; the webhook is called by URL; the Service has no selector "
        "(its endpoints are kept elsewhere); no pod of it is known and the pods of its namespace "
        "were not all listed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such webhook configuration and Service."""
        for webhook, said in mentioned(snapshot, "K8sService", ("Webhook",)):
            service = snapshot.named("K8sService", said_place(webhook, said), said["name"])
            if service is not None and unanswered(snapshot, service):
                yield Finding(
                    self.name,
                    webhook.id,
                    "critical",
                    f"{said.get('via')} must be asked and Service {service.name} has no ready pod: "
                    "whatever it has to admit is refused",
                    ("references",),
                )


CHECK = WebhookWithoutEndpoints()
