"""A name's answers are kept for a day; after its addresses change callers go to the old ones."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

_BALANCER = "routes_to<K8sService routes_to<Ingress routes_to<LoadBalancer"

FAULT = Fault(
    name="record_ttl",
    domain="network",
    family="name resolution",
    source=(
        "public: grpc/grpc #22897 and eclipse-vertx/vert.x #6251 (clients go on to an address "
        "that the provider has retired), own words"
    ),
    seat="Service",
    holder=(*_BALANCER.split(), "resolves_to<DnsRecord"),
    field="ttl_s",
    said="{ttl s}",
    values=((60, 86400), (30, 43200), (120, 86400)),
    logs=(
        (
            "{0} callers dial a released address: they keep the answer of {holder} for {new} s "
            "({said}={new})"
        ),
        "new callers get through, long-running ones hang {1} ms on the old address; {said} {new}",
    ),
    gauge=Gauge("dials_to_released", "per_min", 0, 260),
    trigger=Trigger(
        on=_BALANCER,
        type="runtime",
        summary="Addresses of {name} were replaced by the provider",
        prose="the provider replaced the addresses of the load balancer, as it does",
    ),
    mechanism=(
        "The record's TTL was raised from {old} to {new} s; when the load balancer's addresses "
        "were replaced, callers kept the old answer and dialled addresses that were released"
    ),
    terms=(
        ("ttl", "ttl_s", "time to live"),
        ("address", "addresses", "ip", "ips"),
        ("released", "old", "stale", "retired", "kept", "keep", "cached", "outdated"),
    ),
    fix="Set the TTL back to {old} s and restart the callers that hold the old answer",
    effects=(Effect(_BALANCER, "Old addresses of {name} released"),),
    nears=(
        Near(_BALANCER, "its addresses change as they always did; the answers were kept too long"),
    ),
)
