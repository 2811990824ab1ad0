"""A namespace quota on memory is too small for the replicas that a peak asks for."""

from heldout.simulate.fault import Fault, Gauge, Trigger

FAULT = Fault(
    name="memory_quota",
    domain="kubernetes",
    family="namespace quota",
    source=(
        "public: SREGym #880 and cloud-platform-environments PR #1437 (quota bites at the next "
        "pods), own words"
    ),
    seat="Service",
    holder=("part_of>Namespace", "constrains<ResourceQuota"),
    field="hard.requests.memory",
    said="requests.memory",
    values=(("96Gi", "24Gi"), ("128Gi", "32Gi"), ("64Gi", "16Gi")),
    logs=(
        (
            "replica not created: forbidden, exceeded quota {holder}, requested "
            "requests.memory=2Gi, limited to {new} (attempt {0})"
        ),
        (
            "running with too few replicas, {0} requests queued; FailedCreate: quota on "
            "requests.memory is {new}"
        ),
    ),
    gauge=Gauge("replicas_missing", "count", 0, 6),
    trigger=Trigger(
        on="workload",
        type="runtime",
        summary="Scale-out of {name} asked for more replicas",
        prose="a peak made the autoscaler ask for replicas that the quota refused",
        load=1.8,
    ),
    mechanism=(
        "The namespace quota on requests.memory was lowered from {old} to {new}; running pods "
        "stayed, but new replicas were refused at the next scale-out and the rest was overloaded"
    ),
    terms=(
        ("quota", "resourcequota"),
        ("memory", "requests", "exceeded", "forbidden", "failedcreate", "refused", "replicas"),
    ),
    fix="Raise the quota back to {old}",
)
