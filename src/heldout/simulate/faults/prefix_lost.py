"""The network add-on lost its prefix setting: new nodes have few addresses for pods."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

NODES = "runs_on>Deployment runs_on>NodeGroup controlled_by<Node"

FAULT = Fault(
    name="prefix_lost",
    domain="node",
    family="node network",
    source=(
        "public: cloud-platform 2023-07-21, amazon-vpc-cni-k8s #1634 and #2045 (prefix setting "
        "lost in an add-on upgrade), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "runs_on>NodeGroup", "runs_on>Cluster"),
    field="addons.network.prefix_delegation",
    said="prefix_delegation",
    values=((True, False),),
    logs=(
        (
            "replica stuck in creation: no free address on its node, only single addresses are "
            "handed out ({said}={new} on {holder}), attempt {0}"
        ),
        "{0} requests queued, replicas stuck without an address; {said} of {holder} is {new}",
    ),
    gauge=Gauge("pods_without_address", "count", 0, 9),
    trigger=Trigger(
        on="workload",
        type="runtime",
        summary="Scale-out of {name} asked for more replicas",
        prose="a scale-out placed more pods on the fresh nodes than they have addresses for",
        load=1.7,
    ),
    mechanism=(
        "The add-on's prefix delegation was turned off ({old} to {new}), so nodes that joined "
        "since hand out single addresses and soon have none left; at the next scale-out pods "
        "there stayed stuck in creation"
    ),
    terms=(
        ("address", "addresses", "ip", "ips"),
        ("prefix", "prefixes", "prefix_delegation"),
        ("stuck", "creation", "creating", "containercreating", "cannot start", "not start",
         "none left", "exhausted", "no free", "ran out", "assign"),
    ),
    fix="Turn prefix delegation on again and replace the nodes that joined without it",
    effects=(
        Effect(NODES, "Sandbox of a pod failed on {name}: no address to assign", type="node"),
    ),
    scope=Scope(
        NODES,
        "address_prefixes",
        inside=0,
        outside=4,
        share=0.4,
        why="nodes that joined before the change still hold prefixes and take pods",
    ),
    nears=(
        Near("runs_on>Deployment runs_on>NodeGroup", "its nodes have room; they lack addresses"),
        Near("workload", "the pods of the rollout are as before; other nodes run them"),
    ),
)  # fmt: skip
