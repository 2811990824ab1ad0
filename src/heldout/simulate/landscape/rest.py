"""The part of an estate that most incidents do not need and every estate has."""

from __future__ import annotations

from dataclasses import replace

from heldout.simulate.landscape.build import Build, Place
from heldout.simulate.landscape.stores import bucket, function, queue


def lay_rest(build: Build) -> None:
    """Webhooks, outside services, machines, and what accounts hold that no service of ours uses."""
    _webhooks(build)
    _externals(build)
    _machines(build)
    _spare(build)


def _webhooks(build: Build) -> None:
    """Two to four admission webhooks a cluster, each over some namespaces."""
    g, rng = build.ground, build.rng("webhooks")
    spaces: dict[str, list[int]] = {}
    for namespace in g.of_kind("Namespace"):
        spaces.setdefault(g.entities[namespace].cluster, []).append(namespace)
    for place in build.places:
        for number in range(2 + int(rng.integers(3))):
            hook = build.add("Webhook", build.name(f"hook{number}", "-gate"), place.name)
            g.link(hook, "part_of", place.cluster)
            g.link(hook, "declared_in", place.releases[number % len(place.releases)])
            own = spaces.get(place.name, [])
            for namespace in own:
                if number == 0 or rng.random() < 0.5 or namespace == own[number % len(own)]:
                    g.link(hook, "constrains", namespace)


def _externals(build: Build) -> None:
    g, rng, book = build.ground, build.rng("externals"), build.book
    count = max(3, round(build.plan.services / 8))
    outside = [
        g.add("ExternalDependency", f"{book.brand()}.io", plan="business") for _ in range(count)
    ]
    callers = [site for site in build.land.sites if site.level >= 1]
    for number, other in enumerate(outside):
        g.link(callers[number * 7 % len(callers)].service, "calls", other)
    for site in callers:
        if rng.random() < 0.1:
            other = outside[int(rng.integers(count))]
            if ("calls", other) not in g.out(site.service):
                g.link(site.service, "calls", other)


def _machines(build: Build) -> None:
    """A few machines outside any cluster: build hosts, a jump host, an old ledger."""
    g, rng = build.ground, build.rng("machines")
    place = build.places[0]
    fences = g.of_kind("SecurityGroup")
    for _ in range(int(rng.integers(2, 6))):
        machine = build.add("VmInstance", f"{build.book.brand()}-vm", place.name, status="running")
        g.link(machine, "part_of", place.subnets[int(rng.integers(3))])
        g.link(machine, "owned_by", build.teams[int(rng.integers(len(build.teams)))])
        if fences:
            g.link(machine, "guarded_by", fences[int(rng.integers(len(fences)))])


def _spare(build: Build) -> None:
    """Buckets, queues, functions and machines up to the size that the estate should have."""
    g, rng, book = build.ground, build.rng("spare"), build.book
    missing = build.plan.size - len(g.entities)
    makers = (
        (bucket, "-archive", 0.45), (queue, "-feed", 0.2), (function, "-task", 0.2),
    )  # fmt: skip
    for maker, tail, part in makers:
        count = min(45, max(2, round(part * missing / (2 if maker is function else 1))))
        for _ in range(count):
            place = _spread(build, float(rng.random()))
            build.owning = int(rng.integers(len(build.teams)))
            entity = maker(build, f"{book.brand()}{tail}", place)
            g.link(entity, "owned_by", build.teams[build.owning])
    build.owning = 0


def _spread(build: Build, draw: float) -> Place:
    """Mostly home, else any cluster; in any account of its provider."""
    places = build.places
    place = places[0] if draw < 0.4 else places[int(draw * len(places))]
    own = [
        account for account in build.accounts
        if build.ground.base[(account, "provider")] == place.cloud
    ]  # fmt: skip
    return replace(place, account=own[int(draw * 1000) % len(own)])
