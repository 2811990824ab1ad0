"""Part of a provider's zone has trouble; replicas placed there fail and nothing of ours changed."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

_PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="zone_trouble",
    domain="external",
    family="outside trouble",
    source=(
        "public: kubernetes-sigs/aws-load-balancer-controller #1895 (one zone times out and two "
        "are well, with nothing changed), own words"
    ),
    seat="Service",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        (
            "packets lost on the provider's network in this partition, {0} calls hung for {1} ms,"
            " same build and settings as peers elsewhere"
        ),
        "neighbours in other partitions answer, {0} calls moved to them",
    ),
    gauge=Gauge("packets_lost_share", "ratio", 0.001, 0.34),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Provider reports impaired network in part of a zone used by {name}",
        prose="the provider's network degraded in one partition of a zone",
    ),
    mechanism=(
        "The provider's network degraded in one partition of a zone; replicas placed there lost "
        "packets and no change of ours caused it"
    ),
    terms=(
        ("provider", "cloud provider", "provider's"),
        ("zone", "partition", "placement"),
        ("network", "packet", "packets", "connectivity"),
    ),
    fix="Move replicas out of the partition; nothing of ours needs to be reverted",
    cause="none",
    scope=Scope(
        over=_PODS,
        field="placement_partition",
        inside="p3",
        outside="p1",
        share=0.35,
        why="only replicas placed in the impaired partition lose packets",
    ),
    effects=(Effect(_PODS, "{name} fails its network check", type="pod"),),
    nears=(Near("workload", "replicas of the same build are well elsewhere"),),
)
