"""An admission webhook that must be asked and that nobody answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.health.dangling import mentioned
from heldout.graph.health.reading import is_listed, said_place
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import is_ready, selected_pods, selects_pods


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
            place = said_place(webhook, said)
            service = snapshot.named("K8sService", place, said["name"])
            if service is not None and self._is_unanswered(snapshot, service, place):
                yield Finding(
                    self.name,
                    webhook.id,
                    "critical",
                    f"{said.get('via')} must be asked and Service {service.name} has no ready pod: "
                    "whatever it has to admit is refused",
                    ("references",),
                )

    @staticmethod
    def _is_unanswered(snapshot: Snapshot, service: Entity, place: tuple[str, str]) -> bool:
        if not selects_pods(snapshot.fact(service.id, "selector")):
            return False
        pods = selected_pods(snapshot, service)
        if not pods:
            return is_listed(snapshot, "Pod", place)
        return not any(is_ready(snapshot.facts(pod.id)) for pod in pods)


CHECK = WebhookWithoutEndpoints()
