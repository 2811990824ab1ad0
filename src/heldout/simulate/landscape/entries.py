"""How traffic comes in: public names and balancers, inner ones, gateways."""

from __future__ import annotations

from heldout.simulate.landscape.build import Build, Place
from heldout.simulate.landscape.estate import Site
from heldout.simulate.landscape.logicals import LEAF, Logical


def lay_entry(build: Build, site: Site, logical: Logical, place: Place) -> None:
    """The way in of an entry service, or the inner balancer of some services behind it."""
    if logical.level == 0:
        _public(build, site, place)
    elif logical.level < LEAF and "Inner" in logical.extras:
        _inner(build, site, place)


def _ingress(build: Build, site: Site, place: Place, name: str, rank: str) -> int:
    g, cluster = build.ground, site.cluster
    ingress = build.add("Ingress", name, cluster, **{"class": rank})
    front = g.find("K8sService", site.name, cluster)
    if front is not None:
        g.link(ingress, "routes_to", front)
    g.link(place.ingress_class, "constrains", ingress)
    return ingress


def _public(build: Build, site: Site, place: Place) -> None:
    g = build.ground
    ingress = _ingress(build, site, place, site.name, "edge")
    g.link(place.edge, "routes_to", ingress)
    zone = g.name(place.account)
    record = build.add("DnsRecord", f"{site.name}.{zone}.example", site.cluster, type="A")
    g.link(record, "resolves_to", place.edge)


def _inner(build: Build, site: Site, place: Place) -> None:
    """Balancer, ingress and record share a brand that says nothing about the service behind."""
    g = build.ground
    stem = build.name(f"inner/{site.name}", "")
    ingress = _ingress(build, site, place, f"{stem}-way", "inner")
    balancer = build.add("LoadBalancer", f"{stem}-lb", site.cluster, scheme="internal")
    g.link(balancer, "routes_to", ingress)
    g.link(balancer, "part_of", place.vpc)
    zone = g.name(place.account)
    record = build.add("DnsRecord", f"{stem}.inner.{zone}.example", site.cluster, type="A")
    g.link(record, "resolves_to", balancer)


def lay_gateways(build: Build) -> None:
    """One or two gateways of each home account, in front of entry services."""
    g, rng = build.ground, build.rng("gateways")
    entries = [site for site in build.land.sites if site.level == 0]
    for number in range(1 + int(rng.random() < 0.5)):
        site = entries[int(rng.integers(len(entries)))]
        gateway = build.add("ApiGateway", f"{build.book.brand()}-gate", site.cluster)
        g.link(gateway, "routes_to", site.service)
        g.link(gateway, "part_of", build.places[0].account)
        g.link(gateway, "owned_by", build.teams[number % len(build.teams)])
