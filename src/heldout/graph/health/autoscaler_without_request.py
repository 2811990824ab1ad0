"""An autoscaler that reads use as a share of a request which pods do not make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.owners import ENDED, pods_of
from heldout.graph.reading import record, rows, texts
from heldout.graph.snapshot import Entity, Snapshot


@dataclass(frozen=True, slots=True)
class AutoscalerWithoutRequest:
    """Fires when a utilization target meets a running pod with a container without the request."""

    name: str = "autoscaler-without-request"
    needs: tuple[str, ...] = ("utilization_of", "container_resources")
    silent_when: str = (
        "the target is an absolute or custom metric; every container of the running pods has the "
        "request, also where a default or a limit filled it in; no running pod of the target was "
        "observed (a template alone does not show the defaults)"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each autoscaler and resource."""
        for scaler in snapshot.of_kind("Hpa"):
            for resource in texts(snapshot.fact(scaler.id, "utilization_of")):
                for pod in _targets(snapshot, scaler):
                    lacking = _lacking(snapshot, pod, resource)
                    if lacking:
                        yield Finding(
                            self.name,
                            scaler.id,
                            "warning",
                            f"scales by the share of requested {resource}, and container "
                            f"{lacking} of pod {pod.name} requests none: it cannot be computed",
                            ("utilization_of",),
                        )
                        break


def _targets(snapshot: Snapshot, scaler: Entity) -> Iterable[Entity]:
    place = snapshot.namespace(scaler)
    for said in rows(snapshot.fact(scaler.id, "references")):
        kind, name = said.get("kind"), said.get("name")
        if isinstance(kind, str) and isinstance(name, str):
            target = snapshot.named(kind, place, name)
            yield from pods_of(snapshot, target) if target is not None else ()


def _lacking(snapshot: Snapshot, pod: Entity, resource: str) -> str:
    """The first container without the request, empty where all have it."""
    facts = snapshot.facts(pod.id)
    if facts.get("phase") in ENDED or not facts.get("ready"):
        return ""
    for container, said in record(facts.get("container_resources")).items():
        if not any(resource in record(record(said).get(part)) for part in ("requests", "limits")):
            return str(container)
    return ""


CHECK = AutoscalerWithoutRequest()
