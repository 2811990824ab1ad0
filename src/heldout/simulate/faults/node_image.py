"""A new node image accounts memory anew; runtimes that cannot read it size their heap wrongly."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

NODES = "runs_on>Deployment runs_on>NodeGroup controlled_by<Node"

FAULT = Fault(
    name="node_image",
    domain="node",
    family="memory",
    source=(
        "public: amazon-eks-ami #1866 and bottlerocket #4551 (heaps by percentage on nodes with "
        "new memory accounting), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "runs_on>NodeGroup"),
    field="launch_template.image_family",
    said="image_family",
    values=(("base-5", "base-6"),),
    logs=(
        (
            "worker {0} killed by its group for memory: heap sized from the node, accounting "
            "hierarchy of {said}={new} cannot be read by this runtime"
        ),
        "heap ceiling read as {1} MiB of node memory under {said} {new}, own limit not seen",
    ),
    gauge=Gauge("group_kills", "per_min", 0, 12),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak filled the heaps of workers on the new nodes",
        load=1.6,
    ),
    mechanism=(
        "The node image went from {old} to {new}, which accounts memory in another hierarchy; the "
        "runtime cannot read its limit there and sizes the heap from the node, so at the peak "
        "workers on new nodes were killed for memory"
    ),
    terms=(
        ("node image", "image_family", "cgroup", "machine image", "accounting", "nodes of the new"),
        ("heap", "jvm", "runtime"),
        ("memory", "oom", "oomkilled"),
    ),
    fix="Go back to {old}, or give the runtime a fixed heap before nodes move to {new}",
    effects=(Effect(NODES, "Group kill for memory on {name}", type="node"),),
    scope=Scope(
        NODES,
        "image_family",
        inside="base-6",
        outside="base-5",
        share=0.25,
        why="workers on nodes that still have the former image are well",
    ),
    nears=(
        Near("workload", "its limits are unchanged for months; only the nodes below are new"),
        Near("runs_on>Deployment mounts>ConfigMap", "the heap setting is as it was"),
    ),
)
