"""The ground an incident stands on: entities, edges, base facts, and the changes over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from heldout.simulate.streams import stream, token

DEPENDS = ("calls", "reads_writes", "consumes_from", "routes_to")
"""Predicates along which trouble at the far end becomes trouble at the near end."""

SOURCE_OF_KIND = {
    **dict.fromkeys(
        ("Team", "Person", "AlertRule", "ExternalDependency"),
        "human",
    ),
    **dict.fromkeys(("Repository", "PullRequest"), "git"),
    **dict.fromkeys(("Pipeline", "HelmRelease", "GitOpsApplication"), "cicd"),
    "IacStack": "iac",
    "Service": "traffic",
}
CLOUD_MADE = frozenset(
    (
        "Cluster",
        "Vpc",
        "Subnet",
        "SecurityGroup",
        "LoadBalancer",
        "DnsRecord",
        "IamRole",
        "IamPolicy",
        "KmsKey",
        "DbInstance",
        "DbParameterGroup",
        "Cache",
        "Queue",
        "Bucket",
        "NodeGroup",
        "Function",
        "QuotaLimit",
        "RouteTable",
        "NetworkAcl",
        "LaunchTemplate",
        "VmInstance",
        "InstanceProfile",
        "ApiGateway",
    )
)
"""What is made in an account of a provider."""
_CLOUD = CLOUD_MADE | {"CloudAccount", "Region"}


TRAFFIC = frozenset(("calls", "reads_writes", "consumes_from", "publishes_to"))
"""Predicates that traffic shows."""

FACTS_SAID = (("observed", 0.45), ("declared", 0.85), ("inferred", 0.95), ("asserted", 1.0))
"""Cumulative shares of who says the facts of an entity."""
LIVE_SAID = (("observed", 0.97), ("inferred", 1.0))
"""The same for edges of pods, which the cluster itself reports."""
SAID = (("observed", 0.28), ("declared", 0.82), ("inferred", 0.925), ("asserted", 1.0))
"""The same for all other edges but dependencies; all edges together come to .45 .40 .10 .05."""
_SURE = {"observed": (18.0, 1.2), "declared": (30.0, 1.0), "inferred": (3.2, 2.4),
         "asserted": (5.0, 2.0)}  # fmt: skip


def drawn(shares: Sequence[tuple[str, float]], draw: float) -> str:
    """The name whose cumulative share a draw in [0, 1) falls under."""
    return next(name for name, most in shares if draw < most)


def confidence(provenance: str, draw: float) -> float:
    """How sure a source of that sort is, from a draw in [0, 1).

    Kumaraswamy's distribution, which is shaped as a Beta and has an inverse in closed form.
    """
    a, b = _SURE[provenance]
    return float(round((1.0 - (1.0 - draw) ** (1.0 / b)) ** (1.0 / a), 2))


_SCHEMES = {"aws": "arn:aws", "gcp": "gcp:projects", "azure": "azure:subscriptions"}


def source_of(kind: str, cloud: str = "aws") -> str:
    """Where facts about a kind of entity are read."""
    return SOURCE_OF_KIND.get(kind) or (cloud if kind in _CLOUD else "k8s")


class Edge(NamedTuple):
    """``src predicate dst`` between indices of entities, who said so, and until when (0: still)."""

    src: int
    predicate: str
    dst: int
    provenance: str
    confidence: float
    source: str
    until: int = 0


Said = tuple[str, float, str]
"""Provenance, confidence and source of a fact or an edge."""


class Edit(NamedTuple):
    """A field gets ``value``, or ``other`` where it already had ``value``; ``None`` adds one."""

    entity: int
    field: str
    value: Any
    other: Any


class Change(NamedTuple):
    """A change before replay. ``key`` names it among all changes of a world, stably.

    ``role`` says what it did to its targets: altered them, deleted them or applied them anew.
    """

    ts: int
    key: str
    type: str
    source: str
    actor: str
    actor_kind: str
    pr: str
    repo: str
    commit: str
    summary: str
    targets: tuple[int, ...]
    edits: tuple[Edit, ...]
    role: str = "target"


@dataclass(slots=True)
class Entity:
    """One thing. ``said`` is (provenance, confidence, source) of its facts."""

    id: str
    kind: str
    name: str
    cluster: str
    external_id: str
    first_seen: int
    said: Said


@dataclass(slots=True)
class Ground:
    """A topology under construction; indices are handed out in order of creation."""

    seed: int
    cloud: str = "aws"
    clouds: dict[str, str] = field(default_factory=dict)
    """The provider of each cluster; ``cloud`` where none is named."""
    entities: list[Entity] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    base: dict[tuple[int, str], Any] = field(default_factory=dict)
    _index: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _kinds: dict[str, list[int]] = field(default_factory=dict)
    _out: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    _in: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    _claimed: dict[int, int] = field(default_factory=dict)
    _draws: list[float] = field(default_factory=list)

    def add(
        self, kind: str, name: str, cluster: str = "", /, *, id: str = "", cloud: str = "",
        **facts: Any,
    ) -> int:  # fmt: skip
        """A new entity with base facts; the same (kind, name, cluster) twice is the same one."""
        key = (kind, name, cluster)
        known = self._index.get(key)
        if known is not None:
            return known
        index = len(self.entities)
        draws = token(self.seed, "entity", *key, digits=24)
        own = id or f"e-{draws[:8]}"
        draw, sure = int(draws[8:16], 16) / 16**8, int(draws[16:], 16) / 16**8
        provenance = drawn(FACTS_SAID, draw)
        cloud = cloud or self.clouds.get(cluster, self.cloud)
        self.entities.append(
            Entity(
                own,
                kind,
                name,
                cluster,
                _external(kind, name, cluster, own, cloud),
                0,
                (provenance, confidence(provenance, sure), source_of(kind, cloud)),
            )
        )
        self._index[key] = index
        self._kinds.setdefault(kind, []).append(index)
        for fact, value in facts.items():
            self.base[(index, fact)] = value
        return index

    def facts(self, entity: int, **values: Any) -> None:
        """Set base facts; ``__`` in a keyword stands for a dot."""
        for name, value in values.items():
            self.base[(entity, name.replace("__", "."))] = value

    def link(self, src: int, predicate: str, dst: int, *, said: Said | None = None) -> None:
        """An edge; provenance is drawn unless given."""
        self.edges.append(Edge(src, predicate, dst, *(said or self._said(src, predicate, dst))))
        self._out.setdefault(src, []).append((predicate, dst))
        self._in.setdefault(dst, []).append((predicate, src))

    def claim(
        self, src: int, predicate: str, dst: int, *, said: Said, until: int = 0
    ) -> None:  # fmt: skip
        """An edge that is only said: what runs never uses it, so no trouble passes along it."""
        self.edges.append(Edge(src, predicate, dst, *said, until))
        if not until:
            for end in (src, dst):
                self._claimed[end] = self._claimed.get(end, 0) + 1

    def degree(self, entity: int) -> int:
        """How many edges an entity shows now, those that are only said among them."""
        real = len(self._out.get(entity, ())) + len(self._in.get(entity, ()))
        return real + self._claimed.get(entity, 0)

    def _said(self, src: int, predicate: str, dst: int) -> Said:
        one, other = self.entities[src], self.entities[dst]
        if not self._draws:
            number = len(self.edges)
            self._draws = stream(self.seed, "edges", number).random(4096).tolist()
        draw, sure = self._draws.pop(), self._draws.pop()
        if predicate in TRAFFIC:
            return "observed", confidence("observed", sure), "traffic"
        provenance = drawn(LIVE_SAID if one.kind == "Pod" or other.kind == "Pod" else SAID, draw)
        if provenance == "declared":
            source = "iac" if one.kind in CLOUD_MADE else "git"
        elif provenance == "asserted":
            source = "human"
        else:
            source = source_of(one.kind, self.clouds.get(one.cluster, self.cloud))
        return provenance, confidence(provenance, sure), source

    def of_kind(self, kind: str) -> Sequence[int]:
        """Every entity of a kind, in order of creation."""
        return self._kinds.get(kind, ())

    def find(self, kind: str, name: str, cluster: str = "") -> int | None:
        """The entity of that kind, name and cluster."""
        return self._index.get((kind, name, cluster))

    def out(self, entity: int) -> Sequence[tuple[str, int]]:
        """(predicate, dst) of every edge that starts here."""
        return self._out.get(entity, ())

    def into(self, entity: int) -> Sequence[tuple[str, int]]:
        """(predicate, src) of every edge that ends here."""
        return self._in.get(entity, ())

    def follow(self, entity: int, hop: str) -> Iterator[int]:
        """Entities one hop on: ``'mounts>ConfigMap'`` goes out, ``'scales<Hpa'`` comes in."""
        sign = ">" if ">" in hop else "<"
        predicate, kind = hop.split(sign)
        for found, other in self.out(entity) if sign == ">" else self.into(entity):
            if found == predicate and self.entities[other].kind == kind:
                yield other

    def walk(self, entity: int, hops: Sequence[str]) -> list[int]:
        """The first walk along ``hops`` (entities after the start), empty when there is none."""
        if not hops:
            return []
        for other in self.follow(entity, hops[0]):
            rest = self.walk(other, hops[1:])
            if rest or len(hops) == 1:
                return [other, *rest]
        return []

    def reach(self, entity: int, hops: Sequence[str]) -> list[int]:
        """Every entity at the end of a walk along ``hops``, each once, in edge order."""
        ends = [entity]
        for hop in hops:
            ends = list(dict.fromkeys(other for at in ends for other in self.follow(at, hop)))
        return ends

    def siblings(self, entity: int) -> list[int]:
        """Entities of the same kind and name in other clusters."""
        own = self.entities[entity]
        return [
            other
            for other in self.of_kind(own.kind)
            if other != entity
            and self.entities[other].name == own.name
            and self.entities[other].cluster != own.cluster
        ]

    def cloud_of(self, entity: int) -> str:
        """The provider under an entity."""
        return self.clouds.get(self.entities[entity].cluster, self.cloud)

    def name(self, entity: int) -> str:
        """The name of an entity."""
        return self.entities[entity].name

    def id(self, entity: int) -> str:
        """The id of an entity."""
        return self.entities[entity].id


def _external(kind: str, name: str, cluster: str, own: str, cloud: str) -> str:
    """What the system that runs the thing calls it."""
    if kind in _CLOUD:
        return f"{_SCHEMES[cloud]}:{kind.lower()}:{own[2:6]}:{name}"
    if cluster:
        return f"{cluster}/{kind.lower()}/{name}"
    return f"{kind.lower()}/{name}"
