"""A healthy organisation's estate: clusters, services and everything around them.

Two archetypes. ``saas``: one large cluster. ``fleet``: three to five clusters that run the same
services from a template, plus a home cluster's own services. Shapes and counts follow
graph_simulator research (section 8): entry 13 %, leaf 39 % of services, out-degree about 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from heldout.simulate.catalog import VERSIONED, fields_of
from heldout.simulate.ground import Ground
from heldout.simulate.names import NameBook, styled
from heldout.simulate.streams import stream

ARCHETYPES = ("saas", "fleet")
IMPORTED = "imported"
"""The archetype of an estate that was read, not drawn."""
_REGIONS = ("euw1", "usc2", "apn1", "use4", "euc3", "sam1")
_QUARTERS = ("euw1a", "euw1b", "euw1c")


@dataclass(frozen=True, slots=True)
class Logical:
    """A service before it is placed: ``level`` 0 is an entry; ``fleet`` runs in every cluster."""

    name: str
    level: int
    fleet: bool
    team: int
    calls: tuple[int, ...]
    store: str
    cache: str
    consumes: str
    publishes: str


@dataclass(slots=True)
class Site:
    """A placed service and the entities around it that others need by role."""

    service: int
    deployment: int
    name: str
    cluster: str
    level: int = 1
    team: int = 0


@dataclass(slots=True)
class Landscape:
    """The estate with the people and repositories that change it."""

    ground: Ground
    archetype: str
    style: str
    people: list[str] = field(default_factory=list)
    bots: tuple[str, ...] = ()
    sites: list[Site] = field(default_factory=list)
    repo_of: dict[int, str] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    home: str = ""

    def site_of(self, service: int) -> Site | None:
        """The site whose Service entity this is."""
        return next((site for site in self.sites if site.service == service), None)


def _levels(rng: np.random.Generator, count: int) -> list[int]:
    entries = max(3, round(0.13 * count))
    leaves = max(4, round(0.39 * count))
    middle = count - entries - leaves
    return [0] * entries + [1 + int(x) for x in np.sort(rng.integers(0, 3, middle))] + [4] * leaves


def _logicals(rng: np.random.Generator, book: NameBook, count: int, fleet: int) -> list[Logical]:
    levels = _levels(rng, count)
    in_fleet = [False] * count
    for index in rng.permutation(count)[:fleet]:
        in_fleet[int(index)] = True
    stores = [f"{book.brand()}-pg" for _ in range(max(3, count // 4))]
    caches = [f"{book.brand()}-mem" for _ in range(max(2, count // 8))]
    topics = [f"{book.brand()}.events" for _ in range(max(3, count // 4))]
    made = []
    for index, level in enumerate(levels):
        lower = [
            j for j in range(count)
            if levels[j] > level and (in_fleet[j] or not in_fleet[index])
        ]  # fmt: skip
        near = [j for j in lower if levels[j] == level + 1] or lower
        calls: dict[int, None] = {}
        if lower:
            calls[near[int(rng.integers(len(near)))]] = None
            for _ in range(min(int(rng.geometric(0.42)), 6)):
                # Squared draw: a few services are called by many.
                calls[lower[int(len(lower) * rng.random() ** 1.6)]] = None
        draw = rng.random(5)
        made.append(
            Logical(
                name=book.service(),
                level=level,
                fleet=in_fleet[index],
                team=int(rng.integers(9)),
                calls=tuple(calls),
                store=stores[int(draw[0] * len(stores))] if level and draw[1] < 0.62 else "",
                cache=caches[int(draw[1] * len(caches))] if draw[2] < 0.3 else "",
                consumes=topics[int(draw[2] * len(topics))] if level and draw[3] < 0.4 else "",
                publishes=topics[int(draw[3] * len(topics))] if draw[4] < 0.4 else "",
            )
        )
    return made


class _Builder:
    """Places logical services and lays what they stand on."""

    def __init__(self, seed: int, archetype: str, bank: int, scale: float) -> None:
        self.seed, self.scale = seed, scale
        self.rng = stream(seed, "topology")
        self.book = NameBook(seed, bank)
        cloud = ("aws", "gcp", "azure")[int(self.rng.integers(3))]
        self.land = Landscape(
            Ground(seed, cloud),
            archetype,
            style=("snake", "upper", "camel", "kebab")[int(self.rng.integers(4))],
        )
        self.ground = self.land.ground

    def _count(self, full: int, least: int = 1) -> int:
        return max(least, round(full * self.scale))

    def settings(self, entity: int, kind: str, most: int = 9) -> None:
        """Base facts for the fields of ``kind`` that may change."""
        specs = fields_of(kind)
        draws = self.rng.integers(0, 1 << 30, len(specs))
        for at, spec in enumerate(specs):
            if spec.field in VERSIONED or (at >= most and draws[at] % 3):
                continue
            value = spec.values[int(draws[at]) % len(spec.values)]
            self.ground.base[(entity, spell(spec.field, self.land.style))] = value

    def build(self) -> Landscape:
        """The whole estate."""
        rng, land = self.rng, self.land
        fleet = land.archetype == "fleet"
        clusters = int(rng.integers(3, 6)) if fleet else 1
        self._org()
        self._cloud(clusters)
        if fleet:
            # About 70 placed services, whatever the number of clusters.
            shared = self._count(int(rng.integers(52, 62)) // clusters, 6)
            count = shared + self._count(int(rng.integers(11, 16)), 6)
        else:
            shared, count = 0, self._count(int(rng.integers(56, 68)), 12)
        logicals = _logicals(rng, self.book, count, shared)
        places: list[dict[int, Site]] = []
        for cluster in land.clusters:
            placed: dict[int, Site] = {}
            for index, logical in enumerate(logicals):
                if logical.fleet or cluster == land.home:
                    placed[index] = self._place(logical, cluster)
            places.append(placed)
        for placed in places:
            for index, site in placed.items():
                for other in logicals[index].calls:
                    if other in placed:
                        self.ground.link(site.service, "calls", placed[other].service)
        self._batch()
        self._rest()
        return land

    def _org(self) -> None:
        g, land, book = self.ground, self.land, self.book
        self.teams = [g.add("Team", f"{book.brand()}-crew") for _ in range(9)]
        for _ in range(self._count(int(self.rng.integers(24, 48)), 8)):
            login = book.person()
            land.people.append(login)
            g.link(g.add("Person", login), "part_of", self.teams[len(land.people) % 9])
        word = book.brand()
        land.bots = (f"{word}-sync[bot]", f"{word}-bump[bot]", f"{word}-rotate[bot]")
        self.stacks = [
            g.add("IacStack", f"{book.brand()}-stack", version=f"1.{9 + n}.0") for n in range(12)
        ]
        self.infra_repo = f"{word}-infra"
        g.add("Repository", self.infra_repo, default_branch="main")

    def _cloud(self, clusters: int) -> None:
        g, book, land, rng = self.ground, self.book, self.land, self.rng
        account = g.add("CloudAccount", f"{book.brand()}-prod", tier="production")
        self.account = account
        self.groups: dict[str, list[int]] = {}
        self.edge: dict[str, int] = {}
        self.pools = [f"{book.brand()}-pool" for _ in range(2)]
        for n in range(clusters):
            code = _REGIONS[n % len(_REGIONS)]
            region = g.add("Region", code)
            name = f"{book.brand()}-{code}"
            land.clusters.append(name)
            cluster = g.add("Cluster", name, name, version="1.33", region=code, status="ACTIVE")
            g.link(cluster, "part_of", region)
            vpc = g.add("Vpc", f"{book.brand()}-net", name, cidr=f"10.{n + 1}.0.0/16")
            g.link(vpc, "part_of", account)
            for zone in range(3):
                subnet = g.add("Subnet", f"{book.brand()}-{'abc'[zone]}", name,
                               cidr=f"10.{n + 1}.{zone * 16}.0/20")  # fmt: skip
                g.link(subnet, "part_of", vpc)
            self._nodes(name, cluster, int(rng.integers(9, 15)) if clusters == 1 else 5)
            balancer = g.add("LoadBalancer", f"{book.brand()}-edge", name, scheme="internet-facing")
            self.settings(balancer, "LoadBalancer")
            g.link(balancer, "part_of", vpc)
            self.edge[name] = balancer
        land.home = land.clusters[0]

    def _nodes(self, name: str, cluster: int, count: int) -> None:
        g = self.ground
        self.groups[name] = []
        for pool in self.pools:
            group = g.add("NodeGroup", pool, name, desired_size=count)
            self.settings(group, "NodeGroup")
            g.link(group, "runs_on", cluster)
            g.link(group, "declared_in", self.stacks[group % len(self.stacks)])
            self.groups[name].append(group)
            for _ in range(self._count(count, 2)):
                node = g.add("Node", f"ip-10-{self.rng.integers(256)}-{len(g.entities)}", name)
                g.facts(node, ready=True, kubelet="v1.33.2", labels={"pool": g.name(group)})
                g.link(node, "controlled_by", group)

    def _namespace(self, team: int, cluster: str) -> int:
        g = self.ground
        name = f"{g.name(self.teams[team]).removesuffix('-crew')}-ns"
        known = g.find("Namespace", name, cluster)
        if known is not None:
            return known
        namespace = g.add("Namespace", name, cluster, status="Active")
        g.link(namespace, "owned_by", self.teams[team])
        quota = g.add("ResourceQuota", f"{name.removesuffix('-ns')}-quota", cluster)
        self.settings(quota, "ResourceQuota")
        g.link(quota, "constrains", namespace)
        policy = g.add("NetworkPolicy", f"{name.removesuffix('-ns')}-egress", cluster)
        self.settings(policy, "NetworkPolicy")
        g.link(policy, "constrains", namespace)
        return namespace

    def _place(self, logical: Logical, cluster: str) -> Site:
        g, rng, name = self.ground, self.rng, logical.name
        service = g.add(
            "Service", name, cluster, tier=("edge", "mid", "base")[min(logical.level, 2)],
            status="serving",
        )  # fmt: skip
        deployment = g.add("Deployment", name, cluster)
        site = Site(service, deployment, name, cluster, logical.level, logical.team)
        self.land.sites.append(site)
        namespace = self._namespace(logical.team, cluster)
        g.link(service, "part_of", namespace)
        g.link(deployment, "part_of", namespace)
        g.link(service, "runs_on", deployment)
        g.link(service, "owned_by", self.teams[logical.team])
        pair = self.groups[cluster]
        g.link(deployment, "runs_on", pair[int(rng.integers(len(pair)))])
        repo = self._repository(name)
        g.link(service, "built_from", repo)
        for entity in (service, deployment):
            self.land.repo_of[entity] = g.name(repo)
        self._config(site, namespace)
        self._pods(site)
        self._identity(site)
        self._data(site, logical)
        if logical.level == 0:
            self._ingress(site)
        return site

    def _repository(self, name: str) -> int:
        g = self.ground
        repo = g.find("Repository", name)
        if repo is not None:
            return repo
        repo = g.add("Repository", name, default_branch="main", head="")
        self.land.repo_of[repo] = name
        pipeline = g.add("Pipeline", f"{name}-release", stages=4)
        g.link(pipeline, "built_from", repo)
        return repo

    def _config(self, site: Site, namespace: int) -> None:
        g, name, cluster = self.ground, site.name, site.cluster
        config = g.add("ConfigMap", f"{name}-settings", cluster)
        self.settings(config, "ConfigMap", most=8)
        secret = g.add("Secret", f"{name}-access", cluster, type="Opaque")
        self.settings(secret, "Secret")
        for held in (config, secret):
            g.link(site.deployment, "mounts", held)
            g.link(held, "part_of", namespace)
            self.land.repo_of[held] = name
        self.settings(site.deployment, "Deployment")
        if self.rng.random() < 0.72:
            hpa = g.add("Hpa", f"{name}-hpa", cluster)
            self.settings(hpa, "Hpa")
            g.link(hpa, "scales", site.deployment)
            self.land.repo_of[hpa] = name
        if self.rng.random() < 0.35:
            budget = g.add("Pdb", f"{name}-pdb", cluster)
            g.facts(budget, min_available=1)
            g.link(budget, "selects", site.deployment)
        if self.rng.random() < 0.55:
            flag = g.add("FeatureFlag", f"{name}.{_flag_word(self.rng)}", "")
            if (flag, "kind") not in g.base:
                g.facts(flag, kind="release")
                self.settings(flag, "FeatureFlag")
            g.link(flag, "constrains", site.service)

    def _pods(self, site: Site) -> None:
        g, rng, name, cluster = self.ground, self.rng, site.name, site.cluster
        many = self.land.archetype == "fleet"
        count = int(rng.integers(2, 4 if many else 6))
        if rng.random() < 0.07:
            count += int(rng.integers(3, 8))
        front = g.add("K8sService", name, cluster)
        namespace = f"{g.name(self.teams[site.team]).removesuffix('-crew')}-ns"
        g.facts(
            front, type="ClusterIP", selector={"app": name}, namespace=namespace,
            ports=[{"port": 80, "target_port": 8080}],
        )  # fmt: skip
        g.link(front, "selects", site.deployment)
        g.link(front, "routes_to", site.service)
        g.facts(
            site.deployment, replicas=count, ready_replicas=count, pod_labels={"app": name},
            namespace=namespace, memory_request="256Mi", image=f"{name}:v{1 + count}.20.0",
        )  # fmt: skip
        template = g.add("ReplicaSet", f"{name}-{rng.integers(1 << 30):08x}", cluster)
        g.facts(template, replicas=count, ready_replicas=count, namespace=namespace)
        g.link(template, "controlled_by", site.deployment)
        nodes = list(g.of_kind("Node"))
        nodes = [node for node in nodes if g.entities[node].cluster == cluster]
        stem = g.name(template)
        for draw in rng.integers(0, 1 << 25, count):
            pod = g.add("Pod", f"{stem}-{int(draw):07x}"[:60], cluster)
            g.facts(
                pod, phase="Running", ready=True, restarts=0, labels={"app": name},
                namespace=namespace,
            )  # fmt: skip
            g.link(pod, "controlled_by", template)
            g.link(pod, "runs_on", nodes[int(draw) % len(nodes)])
            g.link(front, "selects", pod)

    def _identity(self, site: Site) -> None:
        g, rng, name, cluster = self.ground, self.rng, site.name, site.cluster
        account = g.add("ServiceAccount", f"{name}-sa", cluster)
        g.link(site.deployment, "uses_identity", account)
        role = g.add("IamRole", f"{name}-role", cluster)
        self.settings(role, "IamRole")
        g.link(account, "assumes", role)
        g.link(site.service, "uses_identity", role)
        g.link(role, "declared_in", self.stacks[role % len(self.stacks)])
        if rng.random() < 0.4:
            policy = g.add("IamPolicy", f"{name}-policy", cluster)
            self.settings(policy, "IamPolicy")
            g.link(policy, "grants", role)
        if rng.random() < 0.45:
            certificate = g.add("Certificate", f"{name}-mesh", cluster)
            self.settings(certificate, "Certificate")
            g.facts(certificate, status="Ready")
            g.link(site.service, "terminates_tls_with", certificate)

    def _data(self, site: Site, logical: Logical) -> None:
        if logical.store:
            self.ground.link(site.service, "reads_writes", self._store(logical.store, site.cluster))
        if logical.cache:
            cache = self.ground.find("Cache", logical.cache, site.cluster)
            if cache is None:
                cache = self.ground.add(
                    "Cache", logical.cache, site.cluster, engine="valkey 8", status="available"
                )
                self.settings(cache, "Cache")
            self.ground.link(site.service, "reads_writes", cache)
        for name, predicate in (
            (logical.consumes, "consumes_from"),
            (logical.publishes, "publishes_to"),
        ):
            if name:
                self.ground.link(site.service, predicate, self._topic(name, site.cluster))
        if logical.consumes:
            group = self.ground.add("ConsumerGroup", f"{logical.name}-readers", site.cluster)
            topic = self._topic(logical.consumes, site.cluster)
            self.ground.link(group, "consumes_from", topic)
            self.ground.link(group, "runs_on", site.deployment)

    def _topic(self, name: str, cluster: str) -> int:
        topic = self.ground.find("KafkaTopic", name, cluster)
        if topic is None:
            topic = self.ground.add("KafkaTopic", name, cluster, partitions=12, status="online")
            self.settings(topic, "KafkaTopic")
        return topic

    def _store(self, name: str, cluster: str) -> int:
        g = self.ground
        known = g.find("DbInstance", name, cluster)
        if known is not None:
            return known
        store = g.add("DbInstance", name, cluster, engine="postgres 16", status="available")
        self.settings(store, "DbInstance")
        stem = name.removesuffix("-pg")
        params = g.add("DbParameterGroup", f"{stem}-params", cluster, family="postgres16")
        self.settings(params, "DbParameterGroup")
        g.link(params, "constrains", store)
        fence = g.add("SecurityGroup", f"{stem}-fence", cluster)
        self.settings(fence, "SecurityGroup")
        g.link(store, "guarded_by", fence)
        key = g.add("KmsKey", f"{stem}-key", cluster, rotation=True)
        g.link(store, "encrypted_by", key)
        for held in (store, params, fence):
            g.link(held, "declared_in", self.stacks[held % len(self.stacks)])
        return store

    def _ingress(self, site: Site) -> None:
        g, name, cluster = self.ground, site.name, site.cluster
        ingress = g.add("Ingress", name, cluster, **{"class": "edge"})
        self.settings(ingress, "Ingress")
        front = g.find("K8sService", name, cluster)
        if front is not None:
            g.link(ingress, "routes_to", front)
        g.link(self.edge[cluster], "routes_to", ingress)
        record = g.add("DnsRecord", f"{name}.{g.name(self.account)}.example", cluster, type="A")
        self.settings(record, "DnsRecord")
        g.link(record, "resolves_to", self.edge[cluster])

    def _batch(self) -> None:
        g, rng, book = self.ground, self.rng, self.book
        for store in g.of_kind("DbInstance"):
            if rng.random() < 0.75:
                cluster = g.entities[store].cluster
                stem = g.name(store).removesuffix("-pg")
                job = g.add("CronJob", f"{stem}-rollup", cluster)
                self.settings(job, "CronJob")
                g.facts(job, schedule="15 * * * *")
                g.link(job, "reads_writes", store)
                run = g.add("Job", f"{stem}-rollup-{rng.integers(1 << 24):06d}", cluster)
                g.facts(run, status="Complete")
                g.link(run, "controlled_by", job)
        self.externals = [
            g.add("ExternalDependency", f"{book.brand()}.io", plan="business")
            for _ in range(self._count(8, 3))
        ]
        for site in self.land.sites:
            if site.level >= 1 and rng.random() < 0.16:
                other = self.externals[int(rng.integers(len(self.externals)))]
                g.link(site.service, "calls", other)

    def _rest(self) -> None:
        """The part of an estate that no incident needs and every estate has."""
        g, rng, book = self.ground, self.rng, self.book
        home = self.land.home
        for kind, suffix, count in (
            ("Bucket", "-archive", 26), ("Queue", "-jobs", 18), ("Function", "-fn", 22),
            ("QuotaLimit", "-quota", 14), ("RouteTable", "-routes", 6), ("NetworkAcl", "-acl", 6),
        ):  # fmt: skip
            for _ in range(self._count(count, 2)):
                entity = g.add(kind, f"{book.brand()}{suffix}", home)
                self.settings(entity, kind)
                g.link(entity, "declared_in", self.stacks[entity % len(self.stacks)])
                g.link(entity, "owned_by", self.teams[int(rng.integers(9))])
        for site in self.land.sites:
            if rng.random() < 0.8:
                rule = g.add("AlertRule", f"{site.name}-slo", site.cluster)
                self.settings(rule, "AlertRule")
                g.link(rule, "watches", site.service)


def _flag_word(rng: np.random.Generator) -> str:
    words = ("new-ranking", "bulk-import", "async-receipts", "lazy-preload", "shadow-read",
             "inline-preview", "smart-batching", "wide-rows")  # fmt: skip
    return words[int(rng.integers(len(words)))]


@cache
def spell(path: str, style: str) -> str:
    """A catalog field's path with its words in the organisation's style."""
    if "{" not in path:
        return path
    head, rest = path.split("{", 1)
    words, tail = rest.split("}", 1)
    return head + styled(words, style) + tail


def build_landscape(seed: int, knobs: Mapping[str, float | int | str]) -> Landscape:
    """A healthy estate for a seed and the knobs ``archetype``, ``bank`` and ``scale``."""
    return _Builder(
        seed,
        str(knobs.get("archetype", "saas")),
        int(knobs.get("bank", 0)),
        float(knobs.get("scale", 1.0)),
    ).build()
