"""What services keep data in and talk through: databases, caches, topics, queues, buckets."""

from __future__ import annotations

from heldout.simulate.landscape.build import Build, Place
from heldout.simulate.landscape.estate import Site
from heldout.simulate.landscape.logicals import Logical

_PARTITIONS = (3, 6, 12, 24)


def lay_stores(build: Build, site: Site, logical: Logical, place: Place) -> None:
    """The stores that a service uses, made when its first user in the cluster is placed."""
    g = build.ground
    if logical.store:
        g.link(site.service, "reads_writes", _database(build, logical.store, place))
    if logical.cache:
        g.link(site.service, "reads_writes", _cache(build, logical.cache, place))
    for name, predicate in (
        (logical.consumes, "consumes_from"), (logical.publishes, "publishes_to")
    ):  # fmt: skip
        if name:
            g.link(site.service, predicate, _topic(build, name, place))
    if logical.consumes:
        group = build.add("ConsumerGroup", f"{logical.name}-readers", site.cluster)
        g.link(group, "consumes_from", _topic(build, logical.consumes, place))
        g.link(group, "runs_on", site.deployment)
    for name, predicate in ((logical.takes, "consumes_from"), (logical.puts, "publishes_to")):
        if name:
            g.link(site.service, predicate, queue(build, name, place))
    if logical.bucket:
        g.link(site.service, "reads_writes", bucket(build, logical.bucket, place))
    if logical.function:
        g.link(site.service, "calls", function(build, logical.function, place))


def _topic(build: Build, name: str, place: Place) -> int:
    known = build.ground.find("KafkaTopic", name, place.name)
    if known is not None:
        return known
    topic = build.add("KafkaTopic", name, place.name, status="online")
    partitions = _PARTITIONS[int(build.rng("topics").integers(len(_PARTITIONS)))]
    build.ground.facts(topic, partitions=partitions)
    build.ground.link(topic, "part_of", place.cluster)
    return topic


def _subnet(build: Build, place: Place) -> int:
    return place.subnets[int(build.rng("stores").integers(len(place.subnets)))]


def _cache(build: Build, name: str, place: Place) -> int:
    known = build.ground.find("Cache", name, place.name)
    if known is not None:
        return known
    cache = build.add("Cache", name, place.name, engine="valkey 8", status="available")
    build.ground.link(cache, "part_of", _subnet(build, place))
    return cache


def _database(build: Build, name: str, place: Place) -> int:
    g, cluster = build.ground, place.name
    known = g.find("DbInstance", name, cluster)
    if known is not None:
        return known
    store = build.add("DbInstance", name, cluster, engine="postgres 16", status="available")
    stem = name.removesuffix("-pg")
    params = build.add("DbParameterGroup", f"{stem}-params", cluster, family="postgres16")
    g.link(params, "constrains", store)
    fence = build.add("SecurityGroup", f"{stem}-fence", cluster)
    g.link(store, "guarded_by", fence)
    g.link(fence, "part_of", place.vpc)
    key = build.add("KmsKey", f"{stem}-key", cluster, rotation=True)
    g.link(store, "encrypted_by", key)
    g.link(store, "part_of", _subnet(build, place))
    rng, batch = build.rng("batch"), build.plan.shape.batch
    for number, tail in enumerate(("rollup", "compact")):
        if rng.random() < batch - number:
            job = build.add("CronJob", f"{stem}-{tail}", cluster, schedule="15 * * * *")
            g.link(job, "reads_writes", store)
            run = g.add("Job", f"{stem}-{tail}-{rng.integers(1 << 24):06d}", cluster)
            g.facts(run, status="Complete")
            g.link(run, "controlled_by", job)
    return store


def queue(build: Build, name: str, place: Place) -> int:
    """A queue of the cluster's account."""
    known = build.ground.find("Queue", name, place.name)
    if known is not None:
        return known
    made = build.add("Queue", name, place.name)
    build.ground.link(made, "part_of", place.account)
    return made


def bucket(build: Build, name: str, place: Place) -> int:
    """A bucket of the cluster's account, encrypted with one of its keys."""
    known = build.ground.find("Bucket", name, place.name)
    if known is not None:
        return known
    made = build.add("Bucket", name, place.name)
    build.ground.link(made, "part_of", place.account)
    key = place.keys[int(build.rng("stores").integers(len(place.keys)))]
    build.ground.link(made, "encrypted_by", key)
    return made


def function(build: Build, name: str, place: Place) -> int:
    """A function with a role of its own."""
    g = build.ground
    known = g.find("Function", name, place.name)
    if known is not None:
        return known
    made = build.add("Function", name, place.name)
    role = build.add("IamRole", f"{name}-role", place.name)
    g.link(made, "uses_identity", role)
    g.link(made, "part_of", place.account)
    return made
