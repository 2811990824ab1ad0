"""Events of a cluster: what its controllers said, about which object and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from heldout.ingest.moments import moment
from heldout.ingest.objects import K8sObject, mapping


class Happening(NamedTuple):
    """One event: ``at`` in microseconds, the object that it is about, who says what."""

    key: str
    at: int
    kind: str
    namespace: str
    name: str
    actor: str
    summary: str


def happenings(events: Iterable[K8sObject]) -> Iterator[Happening]:
    """Kubernetes Events that say when; the last time that one was seen counts."""
    for event in events:
        when = _moment(event)
        if when is None:
            continue
        involved = mapping(event.body.get("involvedObject") or event.body.get("regarding"))
        kind = {"Service": "K8sService"}.get(str(involved.get("kind")), str(involved.get("kind")))
        place = "" if kind == "Node" else str(involved.get("namespace") or event.place)
        source = mapping(event.body.get("source"))
        actor = source.get("component") or event.body.get("reportingComponent") or "kubernetes"
        said = event.body.get("message") or event.body.get("note") or ""
        yield Happening(
            "\x1f".join((event.namespace, event.name, str(when))),
            when,
            kind,
            place,
            str(involved.get("name")),
            str(actor),
            f"{event.body.get('reason') or 'Event'}: {said}",
        )


def _moment(event: K8sObject) -> int | None:
    told = (
        mapping(event.body.get("series")).get("lastObservedTime"),
        *(event.body.get(key) for key in ("lastTimestamp", "eventTime", "firstTimestamp")),
    )
    return next((found for text in told if (found := moment(text)) is not None), None)
