"""From objects to a topology: entities and facts, derived pods, applications and their calls."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from heldout.errors import IngestError
from heldout.graph.ontology import PREDICATES
from heldout.graph.snapshot import Entity
from heldout.graph.status import expected_pod, refused_by_quota
from heldout.graph.status.quota import fills_in
from heldout.graph.status.scheduling import DAEMONS_TOLERATE
from heldout.graph.topology import Topology, TopologyEdge, TopologyEntity, TopologyFact
from heldout.ingest.fields import fields_of
from heldout.ingest.objects import K8sObject, mapping, sequence
from heldout.ingest.observations import observations
from heldout.ingest.podspec import demands, pod_labels, pod_spec
from heldout.ingest.references import WORKLOADS, Identity, Reference, addresses

MAX_PODS = 50
"""Pods derived for one workload; more would only repeat them."""

_DERIVED_CONFIDENCE = 0.9
_INHERITED = (
    "node_selector", "dns_policy", "dns_config", "host_network", "tolerations", "node_affinity",
    "memory_request", "cpu_request", "probe_ports", "container_ports",
)  # fmt: skip
"""What a derived pod has of its template, so that the rules of status can say why it waits."""
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class _Builder:
    """Collects entities, facts and edges; ids follow from identities, so that they are stable."""

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self.entities: dict[Identity, TopologyEntity] = {}
        self.facts: list[TopologyFact] = []
        self.edges: dict[tuple[str, str, str], TopologyEdge] = {}
        self._ids: set[str] = set()

    def entity(
        self,
        one: Identity,
        fields: Mapping[str, Any],
        *,
        provenance: str = "declared",
        confidence: float = 1.0,
        name: str = "",
    ) -> TopologyEntity:
        """Add an entity, or return the one that is there."""
        known = self.entities.get(one)
        if known is not None:
            return known
        wide = one.kind == "Cluster"
        made = TopologyEntity(
            id=self._id(one),
            kind=one.kind,
            name=name or one.name,
            external_id="/".join(part for part in (self.cluster, one.namespace, one.name) if part),
            cluster=one.name if wide else self.cluster,
        )
        self.entities[one] = made
        for field, value in fields.items():
            self.facts.append(TopologyFact(made.id, field, value, provenance, confidence, "k8s"))
        return made

    def say(self, one: Identity, field: str, value: Any) -> None:
        """Add an observed fact of an entity that is there."""
        if one in self.entities:
            fact = TopologyFact(self.entities[one].id, field, value, "observed", 1.0, "k8s")
            self.facts.append(fact)

    def infer(self, one: Identity, field: str, value: Any) -> None:
        """Add a fact that follows from what was declared, of an entity that is there."""
        found = self.entities[one].id
        fact = TopologyFact(found, field, value, "inferred", _DERIVED_CONFIDENCE, "k8s")
        self.facts.append(fact)

    def _id(self, one: Identity) -> str:
        text = "\x1f".join((self.cluster, *one))
        for salt in range(100):
            found = "e-" + hashlib.sha256(f"{salt}{text}".encode()).hexdigest()[:8]
            if found not in self._ids:
                self._ids.add(found)
                return found
        raise IngestError("no id is left for an object", where=text, mend="Import less at once")

    def edge(
        self,
        src: Identity,
        predicate: str,
        dst: Identity,
        *,
        provenance: str = "declared",
        confidence: float = 1.0,
    ) -> None:
        """Add an edge between entities that are there and that the ontology lets connect."""
        one, two = self.entities.get(src), self.entities.get(dst)
        signature = PREDICATES[predicate]
        if one is None or two is None or one.id == two.id:
            return
        if one.kind in signature.domain and two.kind in signature.range:
            key = (one.id, predicate, two.id)
            edge = TopologyEdge(*key, provenance, confidence, "k8s")
            self.edges.setdefault(key, edge)

    def pointing_at(self, dst: Identity, predicate: str) -> list[Identity]:
        """What points at ``dst`` so far."""
        found = self.entities[dst].id
        ids = {entity.id: one for one, entity in self.entities.items()}
        return [
            ids[edge.src]
            for edge in self.edges.values()
            if edge.dst == found and edge.predicate == predicate
        ]


def build_topology(
    items: Mapping[Identity, K8sObject],
    edges: Iterable[Reference],
    cluster: str,
    *,
    listed: Mapping[str, Collection[str]] | None = None,
    derives: bool = True,
) -> Topology:
    """Everything that the objects declare, and what follows from it.

    ``listed`` are the kinds that are known completely, by namespace. Unless it ``derives``, no
    pod and no status is inferred that nobody saw.
    """
    build = _Builder(cluster)
    home = Identity("Cluster", "", cluster)
    build.entity(home, {})
    for one, item in sorted(items.items()):
        observed = bool(item.status)
        provenance = "observed" if observed else "declared"
        fields = {**observations(item), **fields_of(item)}
        build.entity(one, fields, provenance=provenance, name=item.name)
    for one in sorted(items):
        _place(build, one, home)
    for place, kinds in sorted((listed or {}).items()):
        build.say(Identity("Namespace", "", place) if place else home, "listed", sorted(kinds))
    for reference in edges:
        build.edge(reference.src, reference.predicate, reference.dst)
    if derives:
        _derive_pods(build, items)
    _applications(build, items)
    result = Topology(
        entities=tuple(build.entities.values()),
        edges=tuple(build.edges.values()),
        facts=tuple(build.facts),
        name=cluster,
        meta={"imported": "kubernetes"},
    )
    result.check()
    return result


def _place(build: _Builder, one: Identity, home: Identity) -> None:
    if not one.namespace:
        build.edge(one, "part_of", home)
        return
    namespace = Identity("Namespace", "", one.namespace)
    if namespace not in build.entities:
        build.entity(namespace, {}, provenance="inferred")
        build.edge(namespace, "part_of", home)
    build.edge(one, "part_of", namespace)


def _derive_pods(build: _Builder, items: Mapping[Identity, K8sObject]) -> None:
    """ReplicaSets and pods of declared workloads, unless the import holds live ones."""
    owned = {
        (str(mapping(owner).get("kind")), one.namespace, str(mapping(owner).get("name")))
        for one, item in items.items()
        for owner in sequence(mapping(item.body.get("metadata")).get("ownerReferences"))
    }
    nodes = [
        (Entity(one.name, "Node", one.name, "", "", 0, 0), fields_of(item))
        for one, item in sorted(items.items())
        if one.kind == "Node"
    ]
    for one, item in sorted(items.items()):
        if one.kind not in WORKLOADS or tuple(one) in owned or item.status:
            continue
        facts = _demanded(one, item)
        wanted = facts.get("replicas", max(len(nodes), 1) if one.kind == "DaemonSet" else 1)
        count = max(wanted, 0) if isinstance(wanted, int) else 1
        refused = _refused(items, one, facts)
        state = expected_pod(facts, nodes)
        made = 0 if refused else count
        counts = {
            "replicas": wanted,
            "made_replicas": made,
            "ready_replicas": made if state["ready"] else 0,
        }
        said = {"status": f"FailedCreate: quota demands {refused}"} if refused else {}
        for field, value in {**counts, **said}.items():
            if field != "replicas" or one.kind == "DaemonSet":
                build.infer(one, field, value)
        _make_pods(build, one, item, counts, state)


def _refused(
    items: Mapping[Identity, K8sObject], one: Identity, facts: Mapping[str, Any]
) -> str | None:
    beside = [item for other, item in sorted(items.items()) if other.namespace == one.namespace]
    defaults = any(fills_in(fields_of(item)) for item in beside if item.entity_kind == "LimitRange")
    refusals = [
        refused_by_quota(facts, fields_of(item).get("hard"), has_defaults=defaults)
        for item in beside
        if item.entity_kind == "ResourceQuota"
    ]
    return next((demand for demand in refusals if demand), None)


def _demanded(one: Identity, item: K8sObject) -> dict[str, Any]:
    """What the pods of a template ask for, with what its controller adds to them."""
    facts = {"tolerations": [], **demands(item), **fields_of(item)}
    if one.kind == "DaemonSet":
        facts["tolerations"] = [*facts["tolerations"], *DAEMONS_TOLERATE]
    return facts


def _make_pods(
    build: _Builder,
    one: Identity,
    item: K8sObject,
    counts: Mapping[str, Any],
    state: Mapping[str, Any],
) -> None:
    facts = _demanded(one, item)
    derived: dict[str, Any] = {"provenance": "inferred", "confidence": _DERIVED_CONFIDENCE}
    owner, stem = one, one.name
    if one.kind == "Deployment":
        stem = f"{one.name}-{_suffix(one.name, 'template', 9)}"
        owner = Identity("ReplicaSet", one.namespace, stem)
        build.entity(
            owner,
            {"namespace": one.namespace, **counts, "pod_labels": pod_labels(item)},
            **derived,
        )
        build.edge(owner, "controlled_by", one, **derived)
        build.edge(owner, "part_of", Identity("Namespace", "", one.namespace), **derived)
    fronts = build.pointing_at(one, "selects")
    for number in range(min(counts["made_replicas"], MAX_PODS)):
        ordinal = str(number) if one.kind == "StatefulSet" else _suffix(stem, str(number), 5)
        pod = Identity("Pod", one.namespace, f"{stem}-{ordinal}")
        fields = {
            "namespace": one.namespace,
            "labels": pod_labels(item),
            **state,
            **{name: facts[name] for name in _INHERITED if name in facts},
        }
        build.entity(pod, fields, **derived)
        build.edge(pod, "controlled_by", owner, **derived)
        build.edge(pod, "part_of", Identity("Namespace", "", one.namespace), **derived)
        for volume in sequence(pod_spec(item).get("volumes")):
            claim = mapping(mapping(volume).get("persistentVolumeClaim")).get("claimName")
            if isinstance(claim, str):
                build.edge(pod, "mounts", Identity("Pvc", one.namespace, claim), **derived)
        for front in fronts:
            build.edge(front, "selects", pod, **derived)


def _suffix(stem: str, salt: str, length: int) -> str:
    """The letters after the last dash of a generated name: stable, and as unspeakable."""
    digest = hashlib.sha256(f"{stem}\x1f{salt}".encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


def _applications(build: _Builder, items: Mapping[Identity, K8sObject]) -> None:
    """One application for each long-running workload, and who calls whom by their settings."""
    behind: dict[tuple[str, str], list[Identity]] = {}
    for one in sorted(items):
        if one.kind in WORKLOADS:
            app = Identity("Service", one.namespace, one.name)
            build.entity(app, {"namespace": one.namespace}, provenance="inferred")
            build.edge(app, "runs_on", one, provenance="inferred")
            build.edge(app, "part_of", Identity("Namespace", "", one.namespace))
    by_id = {entity.id: one for one, entity in build.entities.items()}
    for edge in list(build.edges.values()):
        front, back = by_id[edge.src], by_id[edge.dst]
        if edge.predicate == "selects" and front.kind == "K8sService" and back.kind in WORKLOADS:
            app = Identity("Service", back.namespace, back.name)
            build.edge(app, "routes_to", front)
            behind.setdefault((front.namespace, front.name), []).append(app)
    for one, item in sorted(items.items()):
        if one.kind not in WORKLOADS:
            continue
        caller = Identity("Service", one.namespace, one.name)
        for name, namespace in addresses(item):
            place = namespace or one.namespace
            for callee in behind.get((place, name), [Identity("K8sService", place, name)]):
                build.edge(caller, "calls", callee)
