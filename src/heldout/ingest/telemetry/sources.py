"""Places as entities of a draft: found there by their names, else added."""

from __future__ import annotations

from heldout.graph.ontology import WORKLOADS
from heldout.ingest.draft import WorldDraft
from heldout.ingest.telemetry.places import Place

MOST_PLACES = 50_000
"""Places of one import; what comes from further ones is said to come from the cluster."""

_NAMESPACED = ("Pod", "Service", "Hpa", "Pvc", "Pdb", "Ingress", *WORKLOADS)


class Sources:
    """Which entity each place is."""

    def __init__(self, draft: WorldDraft, cluster: str) -> None:
        self.left_out = 0
        self._draft = draft
        self._cluster = cluster
        self._known: dict[Place, str] = {}

    def entity(self, place: Place) -> str:
        """The id of a place's entity."""
        found = self._known.get(place)
        if found is None:
            if len(self._known) >= MOST_PLACES:
                self.left_out += 1
                place = Place(cluster=place.cluster)
            found = self._known[place] = self._known.get(place) or self._resolved(place)
        return found

    def _resolved(self, place: Place) -> str:
        cluster = place.cluster or self._cluster
        if place.pod:
            return self._one("Pod", place.pod, place, cluster)
        if place.kind and place.name:
            return self._one(place.kind, place.name, place, cluster)
        if place.service:
            return self._service(place, cluster)
        if place.node:
            return self._one("Node", place.node, place, cluster)
        if place.namespace:
            return self._one("Namespace", place.namespace, place, cluster)
        return self._one("Cluster", cluster or "telemetry", place, "")

    def _service(self, place: Place, cluster: str) -> str:
        """A service, or the workload of that name where the world has no such service."""
        for kind in ("Service", *WORKLOADS, "Function", "DbInstance", "Pod", "Node"):
            found = self._found(kind, place.service, place, cluster)
            if found is not None:
                return found
        return self._one("Service", place.service, place, cluster)

    def _found(self, kind: str, name: str, place: Place, cluster: str) -> str | None:
        """The one entity of that kind and name; in the place's namespace where there are more."""
        found = self._draft.find(kind=kind, name=name, cluster=cluster or None)
        if place.namespace and kind in _NAMESPACED:
            found = [one for one in found if self._draft.namespace(one) in ("", place.namespace)]
        return found[0] if len(found) == 1 else None

    def _one(self, kind: str, name: str, place: Place, cluster: str) -> str:
        found = self._found(kind, name, place, cluster)
        if found is not None:
            return found
        namespaced = kind in _NAMESPACED and place.namespace
        guessed = place.named_by == "file"
        made = self._draft.entity(
            kind,
            "/".join(filter(None, (cluster, place.namespace if namespaced else "", name))),
            name=name,
            cluster=cluster,
            facts={"namespace": place.namespace} if namespaced else {},
            provenance="inferred" if guessed else "observed",
            confidence=0.6 if guessed else 0.9,
            source="traffic",
        )
        if namespaced:
            home = self._one("Namespace", place.namespace, place, cluster)
            self._draft.edge(made, "part_of", home, source="traffic")
        if kind == "Pod" and place.node:
            node = self._one("Node", place.node, place._replace(namespace=""), cluster)
            self._draft.edge(made, "runs_on", node, source="traffic")
        return made
