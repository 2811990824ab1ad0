"""A workload was put into the class that gives way when nodes run short."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="spare_priority",
    domain="node",
    family="placement",
    source="public: SREGym priority_preemption_cascade (pods give way by priority), own words",
    seat="Service",
    holder=("runs_on>Deployment",),
    field="priority_class",
    said="{priority class}",
    values=(("serving", "spare"), ("standard", "background"), ("serving", "scavenger")),
    logs=(
        (
            "replica evicted from a full node: others rank above it ({said}={new}), {0} requests "
            "lost"
        ),
        "{0} requests queued, replicas evicted first while {said} is {new}",
    ),
    gauge=Gauge("evictions", "per_h", 0, 27),
    trigger=Trigger(
        on="runs_on>Deployment runs_on>NodeGroup",
        type="node",
        summary="Nodes of {name} reported memory pressure",
        prose="a batch filled the nodes, and somebody had to give way",
    ),
    mechanism=(
        "The workload's priority class went from {old} to {new}; while the nodes had room nothing "
        "came of it, and once they ran short of memory its replicas were evicted before all others"
    ),
    terms=(
        ("priority", "priority_class", "rank", "ranks"),
        ("evicted", "evict", "eviction", "evicts", "preempted", "preemption", "preempts"),
        ("replica", "pod", "pressure"),
    ),
    fix="Set the priority class back to {old}",
    effects=(Effect(PODS, "Evicted {name}: its node ran short, others rank above it", type="pod",
                    field="ready", value=False),),
    nears=(
        Near(
            "runs_on>Deployment runs_on>NodeGroup",
            "its nodes fill up every month; others stay up on them",
        ),
        Near("runs_on>Deployment scales<Hpa", "what it adds is evicted too"),
    ),
)  # fmt: skip
