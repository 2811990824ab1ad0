"""A service in a cluster: its Deployment, settings, pods, identity and rights."""

from __future__ import annotations

import numpy as np

from heldout.simulate.landscape.build import Build, Place
from heldout.simulate.landscape.estate import Site
from heldout.simulate.landscape.logicals import Logical
from heldout.simulate.names import major_version
from heldout.simulate.rhythm import DAY, HOUR, iso

_FLAGS = (
    "new-ranking", "bulk-import", "async-receipts", "lazy-preload", "shadow-read",
    "inline-preview", "smart-batching", "wide-rows",
)  # fmt: skip


def place_service(build: Build, logical: Logical, place: Place) -> Site:
    """The service, its Deployment and everything that belongs to the two of them."""
    g, rng, name, cluster = build.ground, build.rng("services"), logical.name, place.name
    service = g.add("Service", name, cluster, tier=("edge", "mid", "base")[min(logical.level, 2)],
                    status="serving")  # fmt: skip
    deployment = g.add("Deployment", name, cluster)
    site = Site(service, deployment, name, cluster, logical.level, logical.team)
    build.land.sites.append(site)
    namespace = _namespace(build, logical.team, place)
    g.link(service, "part_of", namespace)
    g.link(deployment, "part_of", namespace)
    g.link(service, "runs_on", deployment)
    g.link(service, "owned_by", build.teams[logical.team])
    groups = place.own_groups if place.own_groups and len(logical.places) == 1 else place.groups
    g.link(deployment, "runs_on", groups[int(rng.integers(len(groups)))])
    own = f"{build.team(logical.team)}-code" if build.plan.one_repository else name
    repository = _repository(build, name, own)
    g.link(service, "built_from", repository)
    for entity in (service, deployment):
        build.land.repo_of[entity] = own
    _settings(build, site, logical, place, namespace)
    _pods(build, site, logical, place)
    _identity(build, site, logical, place)
    return site


def _namespace(build: Build, team: int, place: Place) -> int:
    g, stem, cluster = build.ground, build.stem(team, place), place.name
    known = g.find("Namespace", f"{stem}-ns", cluster)
    if known is not None:
        return known
    namespace = build.add("Namespace", f"{stem}-ns", cluster, status="Active")
    g.link(namespace, "owned_by", build.teams[team])
    g.link(namespace, "part_of", place.cluster)
    for kind, tail in (("ResourceQuota", "quota"), ("NetworkPolicy", "egress"),
                       ("LimitRange", "range")):  # fmt: skip
        held = build.add(kind, f"{stem}-{tail}", cluster)
        g.link(held, "constrains", namespace)
    apps = build.add("GitOpsApplication", f"{stem}-apps", cluster, status="Synced")
    g.link(apps, "owned_by", build.teams[team])
    repository = g.find("Repository", build.land.infra)
    if repository is not None:
        g.link(apps, "built_from", repository)
    return namespace


def _repository(build: Build, name: str, own: str) -> int:
    """The repository of a service, with a pipeline of its own for each service in it."""
    g = build.ground
    repository = g.find("Repository", own)
    if repository is None:
        repository = g.add("Repository", own, default_branch="main", head="")
        build.land.repo_of[repository] = own
    if g.find("Pipeline", f"{name}-release") is None:
        pipeline = build.add("Pipeline", f"{name}-release")
        g.link(pipeline, "built_from", repository)
        build.land.repo_of[pipeline] = own
    return repository


def _settings(build: Build, site: Site, logical: Logical, place: Place, namespace: int) -> None:
    g, name, cluster, rng = build.ground, site.name, site.cluster, build.rng("services")
    own = build.land.repo_of[site.service]
    config = build.add("ConfigMap", f"{name}-settings", cluster)
    secret = build.add("Secret", f"{name}-access", cluster, type="Opaque")
    for held in (config, secret):
        g.link(site.deployment, "mounts", held)
        g.link(held, "part_of", namespace)
        build.land.repo_of[held] = own
    build.settings(site.deployment, "Deployment")
    apps = g.find("GitOpsApplication", f"{build.stem(site.team, place)}-apps", cluster)
    if apps is not None:
        for declared in (site.deployment, config):
            g.link(declared, "declared_in", apps)
    if rng.random() < 0.3:
        rank = place.priorities[int(rng.integers(len(place.priorities)))]
        g.link(rank, "constrains", site.deployment)
    if "Hpa" in logical.extras:
        hpa = build.add("Hpa", f"{name}-hpa", cluster)
        g.link(hpa, "scales", site.deployment)
        build.land.repo_of[hpa] = own
    if "Pdb" in logical.extras:
        budget = build.add("Pdb", f"{name}-pdb", cluster, min_available=1)
        g.link(budget, "selects", site.deployment)
    if "FeatureFlag" in logical.extras:
        _flag(build, site)
    if "AlertRule" in logical.extras:
        rule = build.add("AlertRule", f"{name}-slo", cluster)
        g.link(rule, "watches", site.service)
    if "Pvc" in logical.extras:
        _volume(build, site, place, namespace)


def _flag(build: Build, site: Site) -> None:
    """A flag is one for all clusters."""
    g, rng = build.ground, build.rng("flags")
    word = _FLAGS[len(site.name) * 7 % len(_FLAGS)]
    flag = g.find("FeatureFlag", f"{site.name}.{word}")
    if flag is None:
        flag = build.add("FeatureFlag", f"{site.name}.{word}", kind="release")
        g.facts(flag, created_days_ago=int(rng.integers(5, 300)))
    g.link(flag, "constrains", site.service)


def _volume(build: Build, site: Site, place: Place, namespace: int) -> None:
    g, name, cluster, rng = build.ground, site.name, site.cluster, build.rng("volumes")
    claim = build.add("Pvc", f"{name}-work", cluster, phase="Bound",
                      access_modes=["ReadWriteMany"], namespace=g.name(namespace))  # fmt: skip
    volume = build.add("PersistentVolume", f"pv-{rng.integers(1 << 40):010x}", cluster,
                       phase="Bound")  # fmt: skip
    storage = place.storage[int(rng.random() < 0.25)]
    g.link(site.deployment, "mounts", claim)
    g.link(claim, "part_of", namespace)
    g.link(volume, "part_of", claim)
    for held in (claim, volume):
        g.link(storage, "constrains", held)
    build.land.repo_of[claim] = build.land.repo_of[site.service]


def _pods(build: Build, site: Site, logical: Logical, place: Place) -> None:
    g, rng, name, cluster = build.ground, build.rng("pods"), site.name, site.cluster
    count = max(2, logical.pods + int(rng.integers(-1, 2)) * (len(logical.places) > 1))
    front = build.add("K8sService", name, cluster)
    namespace = f"{build.stem(site.team, place)}-ns"
    g.facts(
        front, type="ClusterIP", selector={"app": name}, namespace=namespace,
        ports=[{"port": 80, "target_port": 8080}],
    )  # fmt: skip
    g.link(front, "selects", site.deployment)
    g.link(front, "routes_to", site.service)
    g.facts(
        site.deployment, replicas=count, ready_replicas=count, pod_labels={"app": name},
        namespace=namespace, memory_request="256Mi",
        image=f"{name}:v{major_version(build.seed, name)}.19.0",
    )  # fmt: skip
    template = g.add("ReplicaSet", f"{name}-{rng.integers(1 << 30):08x}", cluster)
    g.facts(template, replicas=count, ready_replicas=count, namespace=namespace)
    g.link(template, "controlled_by", site.deployment)
    stem, nodes = g.name(template), place.nodes
    ages = np.minimum(rng.lognormal(1.2, 1.0, count), 60.0).tolist()
    for at, draw in enumerate(rng.integers(0, 1 << 25, count).tolist()):
        pod = g.add("Pod", f"{stem}-{draw:07x}"[:60], cluster)
        node = nodes[draw % len(nodes)]
        started = build.plan.now - 7 * HOUR - int(ages[at] * DAY)
        g.facts(
            pod, phase="Running", ready=True, restarts=0, labels={"app": name},
            namespace=namespace, zone=g.base[(node, "zone")], node_image=g.base[(node, "image")],
            started_at=iso(started),
        )  # fmt: skip
        g.link(pod, "controlled_by", template)
        g.link(pod, "runs_on", node)
        g.link(front, "selects", pod)


def _identity(build: Build, site: Site, logical: Logical, place: Place) -> None:
    g, rng, name, cluster = build.ground, build.rng("identity"), site.name, site.cluster
    account = build.add("ServiceAccount", f"{name}-sa", cluster)
    g.link(site.deployment, "uses_identity", account)
    role = build.add("IamRole", f"{name}-role", cluster)
    g.link(account, "assumes", role)
    g.link(site.service, "uses_identity", role)
    if "IamPolicy" in logical.extras:
        policy = build.add("IamPolicy", f"{name}-policy", cluster)
        g.link(policy, "grants", role)
    if "Role" in logical.extras:
        reader = build.add("Role", f"{name}-reader", cluster)
        g.link(reader, "grants", account)
        build.land.repo_of[reader] = build.land.repo_of[site.service]
    elif rng.random() < 0.3:
        wide = place.cluster_roles[int(rng.integers(len(place.cluster_roles)))]
        g.link(wide, "grants", account)
    if "Certificate" in logical.extras:
        certificate = build.add("Certificate", f"{name}-mesh", cluster, status="Ready")
        g.link(site.service, "terminates_tls_with", certificate)
