"""Each address of a load balancer keeps to its zone; a zone with one replica drowns."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

_PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="zone_isolation",
    domain="network",
    family="routing",
    source=(
        "public: cloud-platform 2022-07-11 (a quarter of requests slow behind one of three "
        "addresses) and litl/galaxy #113 (no spreading across zones), own words"
    ),
    seat="Service",
    holder=("routes_to<K8sService", "routes_to<Ingress"),
    field="annotations.cross_zone",
    said="{cross zone}",
    values=(("enabled", "disabled"), ("on", "off")),
    logs=(
        (
            "overloaded: everything from this zone's address of {holder} lands here "
            "({said}={new}), {0} queued, oldest {1} ms"
        ),
        "share of traffic three times that of peers elsewhere, {0} requests shed; {said} is {new}",
    ),
    gauge=Gauge("busiest_zone_share", "ratio", 0.34, 0.91),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Replicas of {name} were rescheduled, one zone kept a single one",
        prose="a rescheduling left one zone with a single replica",
    ),
    mechanism=(
        "Spreading across zones was set from {old} to {new}, so each address serves its own zone "
        "only; when a rescheduling left one zone with a single replica, that one was overloaded "
        "with the whole zone's traffic"
    ),
    terms=(
        ("cross zone", "cross_zone", "across zones", "zone spreading", "between zones"),
        (
            "overloaded",
            "overload",
            "overloads",
            "queued",
            "saturated",
            "uneven",
            "imbalance",
            "imbalanced",
            "shed",
            "drowned",
            "skewed",
        ),
    ),
    fix="Set the annotation back to {old}, or spread the replicas over all zones",
    scope=Scope(
        over=_PODS,
        field="fed_by",
        inside="address-3",
        outside="address-1",
        share=0.3,
        why="only replicas fed by the address of the thin zone are overloaded",
    ),
    effects=(Effect(_PODS, "Readiness probe of {name} timed out", type="pod"),),
    nears=(
        Near(
            "routes_to<K8sService routes_to<Ingress routes_to<LoadBalancer",
            "it follows the annotation of its ingress and was not touched",
        ),
    ),
)
