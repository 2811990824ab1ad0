"""Accounts, regions and networks, and the clusters with their nodes."""

from __future__ import annotations

import datetime

from heldout.simulate.landscape.build import Build, Place

_REGIONS = {
    "aws": ("euw1", "use4", "apn1", "sam1"),
    "gcp": ("euc3", "usc2", "asn2", "aus1"),
    "azure": ("weu2", "eus3", "sea1", "brs1"),
}
_VERSIONS = ("1.32", "1.33", "1.34")
_AGENTS = ("-tail", "-probe")


def lay_clusters(build: Build) -> None:
    """Every account, region and cluster of the plan, home first."""
    g, plan, rng = build.ground, build.plan, build.rng("clusters")
    stem = build.book.brand()
    for number in range(plan.accounts):
        cloud = plan.clouds[number % len(plan.clouds)]
        tail = ("prod", "shared", "audit", "edge", "data")[number // len(plan.clouds)]
        account = g.add("CloudAccount", f"{stem}-{cloud}-{tail}", cloud=cloud)
        g.facts(account, provider=cloud, tier="production" if tail == "prod" else tail)
        g.link(account, "owned_by", build.teams[0])
        build.accounts.append(account)
    version = _VERSIONS[int(rng.integers(len(_VERSIONS)))]
    for number in range(plan.clusters):
        cloud = plan.clouds[number % len(plan.clouds)]
        zone = number % plan.regions
        code = _REGIONS[cloud][zone // len(plan.clouds) if len(plan.clouds) > 1 else zone]
        region = g.add("Region", code, cloud=cloud)
        g.facts(region, provider=cloud)
        name = f"{build.book.brand()}-{code}"
        g.clouds[name] = cloud
        # Metrics and alerts know a cluster by its label, the provider by a name of its own.
        own = f"{build.book.brand()}-plane"
        cluster = build.add("Cluster", own, name, version=version, region=code, status="ACTIVE")
        build.land.clusters.append(name)
        account = build.accounts[number % len(plan.clouds)]
        g.link(cluster, "part_of", region)
        g.link(cluster, "part_of", account)
        place = Place(name, cloud, code, cluster, account)
        build.places.append(place)
        _network(build, place, number)
        _nodes(build, place)
        _platform(build, place)
    build.land.home = build.land.clusters[0]


def _network(build: Build, place: Place, number: int) -> None:
    g, name, rng = build.ground, place.name, build.rng("network")
    place.vpc = build.add("Vpc", build.name("vpc", "-net"), name, cidr=f"10.{number + 1}.0.0/16")
    g.link(place.vpc, "part_of", place.account)
    tables = [build.add("RouteTable", build.name(f"routes{n}", "-routes"), name) for n in range(2)]
    walls = [build.add("NetworkAcl", build.name(f"acl{n}", "-acl"), name)
             for n in range(1 + int(rng.random() < 0.6))]  # fmt: skip
    for zone in range(3):
        subnet = build.add("Subnet", build.name(f"subnet{zone}", f"-{'abc'[zone]}"), name)
        g.facts(subnet, cidr=f"10.{number + 1}.{zone * 16}.0/20",
                zone=f"{place.region}{'abc'[zone]}")  # fmt: skip
        g.link(subnet, "part_of", place.vpc)
        g.link(tables[zone % 2], "routes_to", subnet)
        g.link(subnet, "guarded_by", walls[zone % len(walls)])
        place.subnets.append(subnet)
    for held in (*tables, *walls):
        g.link(held, "part_of", place.vpc)
    place.edge = build.add("LoadBalancer", build.name("edge", "-edge"), name)
    g.facts(place.edge, scheme="internet-facing")
    g.link(place.edge, "part_of", place.vpc)
    for n in range(2):
        key = build.add("KmsKey", build.name(f"key{n}", "-key"), name, rotation=True)
        g.link(key, "part_of", place.account)
        place.keys.append(key)


def _nodes(build: Build, place: Place) -> None:
    """Two pools of a profile and a registry login; the home of a fleet has a third of its own."""
    g, name = build.ground, place.name
    rng = build.rng("nodes")
    profile = build.add("InstanceProfile", build.name("profile", "-profile"), name)
    role = build.add("IamRole", build.name("nodes", "-nodes"), name)
    g.link(profile, "assumes", role)
    login = build.add("Secret", build.name("registry", "-pull"), name, type="registry login")
    quotas = [build.add("QuotaLimit", build.name(f"quota{n}", "-quota"), name)
              for n in range(1 + int(rng.random() < 0.5))]  # fmt: skip
    for quota in quotas:
        g.link(quota, "part_of", place.account)
    few = (4, 7) if build.plan.clusters > 1 else (8, 14)
    for number in range(2):
        stem = build.name(f"pool{number}", "-pool")
        group = _pool(build, place, stem, int(rng.integers(*few)))
        for identity in (login, profile):
            g.link(group, "uses_identity", identity)
        g.link(quotas[number % len(quotas)], "constrains", group)
        place.groups.append(group)
    if build.shared_names and len(build.places) == 1:
        brand = build.book.brand()
        group = _pool(build, place, f"{brand}-pool", 3)
        quota = build.add("QuotaLimit", f"{brand}-quota", name)
        own = build.add("Secret", f"{brand}-pull", name, type="registry login")
        g.link(quota, "constrains", group)
        for identity in (own, profile):
            g.link(group, "uses_identity", identity)
        place.own_groups.append(group)


def _pool(build: Build, place: Place, stem: str, count: int) -> int:
    """A pool with its launch template and nodes in three zones."""
    g, name, rng = build.ground, place.name, build.rng("nodes")
    now = datetime.datetime.fromtimestamp(build.plan.now // 1_000_000, datetime.UTC)
    month = now.strftime("%Y.%m")
    count = max(2, round(count * max(0.3, min(1.2, build.plan.size / 1500))))
    group = build.add("NodeGroup", stem, name, desired_size=count)
    template = build.add("LaunchTemplate", stem.replace("-pool", "-template"), name)
    g.link(template, "constrains", group)
    g.link(group, "runs_on", place.cluster)
    images = [f"{stem.removesuffix('-pool')}-os-{month}.{n}" for n in (1, 2)]
    kubelet = f"v{g.base[(place.cluster, 'version')]}.2"
    for at in range(count):
        zone = f"{place.region}{'abc'[at % 3]}"
        node = build.add("Node", f"ip-10-{rng.integers(256)}-{len(g.entities)}", name)
        g.facts(
            node, ready=True, kubelet=kubelet, zone=zone, image=images[int(rng.random() < 0.7)],
            labels={"pool": stem, "zone": zone, "disk": "ssd"},
        )  # fmt: skip
        g.link(node, "controlled_by", group)
        place.nodes.append(node)
    return group


def _platform(build: Build, place: Place) -> None:
    """What every cluster has before its first service: classes, webhooks, releases, agents."""
    g, name, rng = build.ground, place.name, build.rng("platform")
    for n in range(3):
        release = build.add("HelmRelease", build.name(f"release{n}", "-kit"), name)
        g.facts(release, status="deployed", revision=int(rng.integers(2, 40)))
        g.link(release, "part_of", place.cluster)
        place.releases.append(release)
    place.ingress_class = build.add("IngressClass", build.name("class", "-edge"), name)
    place.priorities = [build.add("PriorityClass", build.name(f"rank{n}", "-rank"), name)
                        for n in range(2)]  # fmt: skip
    place.storage = [build.add("StorageClass", build.name(f"disk{n}", "-disk"), name)
                     for n in range(2)]  # fmt: skip
    place.cluster_roles = [build.add("ClusterRole", build.name(f"reach{n}", "-reach"), name)
                           for n in range(2)]  # fmt: skip
    for n, held in enumerate(
        (place.ingress_class, *place.priorities, *place.storage, *place.cluster_roles)
    ):
        g.link(held, "declared_in", place.releases[n % 3])
        g.link(held, "part_of", place.cluster)
    for n, tail in enumerate(_AGENTS):
        agent = build.add("DaemonSet", build.name(f"agent{n}", tail), name)
        g.facts(agent, replicas=len(place.nodes), ready_replicas=len(place.nodes))
        g.link(agent, "controlled_by", place.releases[n])
        for group in place.groups:
            g.link(agent, "runs_on", group)
