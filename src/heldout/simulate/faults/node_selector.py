"""A workload asks for a node label that no node has; running pods stay, new ones wait."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="node_selector",
    domain="kubernetes",
    family="placement",
    source=(
        "public: SREGym assign_to_non_existent_node (a selector that no node satisfies), "
        "own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment",),
    field="node_selector.disk",
    said="node_selector.disk",
    values=(("ssd", "nvme"),),
    logs=(
        "replica not scheduled: no node carries the label of {said}={new}, {0} requests queued",
        "waiting for a node since {1} ms, {said} is {new} and no node matches",
    ),
    gauge=Gauge("pods_unscheduled", "count", 0, 5),
    trigger=Trigger(
        on="runs_on>Deployment runs_on>NodeGroup",
        type="node",
        summary="Nodes of {name} were drained in turn",
        prose="a node drain moved pods, which had to be scheduled anew",
    ),
    mechanism=(
        "The node selector was changed from {old} to {new}, a label that no node carries; "
        "running pods stayed, and once a drain moved them the new ones could not be scheduled"
    ),
    terms=(
        ("node_selector", "nodeselector", "node label", "affinity", "selector"),
        ("no node", "unschedulable", "not scheduled", "cannot be scheduled", "not be scheduled",
         "none of the nodes", "pending", "no matching node", "unsatisfiable"),
        ("label", "nvme", "match", "matches", "carries"),
    ),
    fix="Set the node selector back to {old}",
    effects=(
        Effect(PODS, "FailedScheduling of {name}: 0 nodes match its node selector", type="pod",
               field="phase", value="Pending"),
        Effect(PODS, "Node selector of {name} read: disk={new}", type="pod",
               field="node_selector", value={"disk": "nvme"}),
    ),
    scope=Scope(
        PODS,
        "template_revision",
        inside=2,
        outside=1,
        share=0.5,
        why="pods made from the former template stay where they are",
    ),
    nears=(
        Near("runs_on>Deployment runs_on>NodeGroup", "its nodes have room and its labels are old"),
        Near("runs_on>Deployment scales<Hpa", "it asks for the right number; none can be placed"),
    ),
    health=("unsatisfiable-node-selector",),
)  # fmt: skip
