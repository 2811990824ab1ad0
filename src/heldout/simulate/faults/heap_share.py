"""The share of a container that the heap may take was raised until nothing was left beside it."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="heap_share",
    domain="workload",
    family="memory",
    source=(
        "public: amazon-eks-ami #1866 and bottlerocket #4551 (heap by percentage meets new "
        "accounting), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{heap percent of container}",
    said="{heap percent of container}",
    values=((60, 92), (55, 90), (65, 94)),
    logs=(
        (
            "worker killed by the kernel for memory, heap alone may take {new} % ({said}={new}), "
            "resident {0} MiB"
        ),
        "memory nearly gone: {said} is {new}, {1} KiB left for threads and buffers",
    ),
    gauge=Gauge("resident_share", "ratio", 0.58, 0.99),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak filled heap and buffers at once",
        load=1.7,
    ),
    mechanism=(
        "The heap's share of the container was raised from {old} to {new} percent; at the peak "
        "heap and native buffers together passed the limit and workers were killed for memory"
    ),
    terms=(
        ("heap",),
        ("percent", "percentage", "share", "fraction", "heap_percent_of_container"),
        ("killed", "kills", "oom", "oomkilled", "out of memory", "nothing left", "nearly gone",
         "too high", "raised"),
    ),
    fix="Set the heap share back to {old} percent",
    effects=(
        Effect(PODS, "Container in {name} ended for memory (exit 137)", type="pod"),
    ),
    nears=(
        Near("workload", "its memory limit is unchanged; the heap inside grew"),
        Near(
            "runs_on>Deployment runs_on>NodeGroup",
            "its nodes have memory to spare; the container reached its own limit",
        ),
    ),
)  # fmt: skip
