"""A container's memory limit was brought down to its request; the next peak is killed for it."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="memory_ceiling",
    domain="workload",
    family="memory",
    source="public: bottlerocket #4551 (killed for memory at unchanged limits), own words",
    seat="Service",
    holder=("runs_on>Deployment",),
    field="memory_limit",
    said="{memory limit}",
    values=(("1Gi", "=memory_request"), ("768Mi", "=memory_request"), ("2Gi", "=memory_request")),
    logs=(
        "container killed for memory (exit 137): {said}={new} reached, {0} requests lost",
        "working set at {said} {new}, garbage collection takes {1} ms",
    ),
    gauge=Gauge("working_set_share", "ratio", 0.46, 1.0),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak needed more memory than the container may take",
        load=1.8,
    ),
    mechanism=(
        "The container's memory limit was lowered from {old} to {new}; at the next peak its "
        "working set passed the limit and it was killed again and again"
    ),
    terms=(
        ("memory", "memory_limit"),
        ("limit", "memory_limit", "ceiling", "cap"),
        ("working set", "lowered", "reduced", "decreased", "too low", "too small", "exit 137",
         "halved", "down to its request", "shrunk"),
    ),
    fix="Restore the memory limit of {old}",
    effects=(
        Effect(PODS, "Container in {name} ended for memory (exit 137)", type="pod"),
    ),
    nears=(
        Near(
            "runs_on>Deployment mounts>ConfigMap",
            "no setting of the process changed; the container around it did",
        ),
        Near("runs_on>Deployment runs_on>NodeGroup", "its nodes have memory to spare"),
    ),
)  # fmt: skip
