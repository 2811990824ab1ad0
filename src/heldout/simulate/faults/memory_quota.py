"""A namespace quota on memory is too small for the replicas that a peak asks for."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="memory_quota",
    domain="kubernetes",
    family="quota",
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
        ("memory", "requests.memory"),
        ("replica", "pod", "failedcreate", "forbidden", "not created", "scale-out", "scale out"),
    ),
    fix="Raise the quota back to {old}",
    effects=(
        Effect(
            "runs_on>Deployment controlled_by<ReplicaSet",
            "FailedCreate: quota {holder} refused a pod of {name}",
        ),
    ),
    nears=(
        Near(
            "runs_on>Deployment scales<Hpa",
            "it asks for the right number; the quota refuses what it asks for",
        ),
        Near("workload", "its template asks for as much memory as before"),
    ),
)  # fmt: skip
