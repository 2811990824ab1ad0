"""Nodes send packets that the path between sites cannot carry; only large answers suffer."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="link_mtu",
    domain="node",
    family="node network",
    source=(
        "public: terraform-hcloud-kubernetes #450 (1500 forced on an interface that needs 1450), "
        "own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "runs_on>NodeGroup"),
    field="network.mtu",
    said="mtu",
    values=((1450, 1500), (1400, 1500), (1380, 1500)),
    logs=(
        (
            "answer {0} stalled after its first packet: large packets from nodes of {holder} are "
            "lost ({said}={new}, path carries {old}), small ones pass"
        ),
        "probe fine, large transfer {0} hangs after {1} ms; {said} of {holder} is {new}",
    ),
    gauge=Gauge("retransmitted_segments", "per_s", 2, 640),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Full exports were requested from {name}",
        prose="a client began to ask for full exports, whose answers fill whole packets",
    ),
    mechanism=(
        "The MTU of the nodes was raised from {old} to {new}, more than the path between sites "
        "carries; probes and small answers pass, and once full exports were requested large "
        "packets were dropped and transfers hung"
    ),
    terms=(
        ("mtu", "packet size", "frame size"),
        ("large", "larger", "big", "bigger", "oversized", "fragment", "fragmentation"),
        ("lost", "dropped", "hang", "hangs", "hung", "stall", "stalled", "stalls", "blackholed"),
    ),
    fix="Set the MTU back to {old}",
    effects=(
        Effect(
            "runs_on>Deployment runs_on>NodeGroup controlled_by<Node",
            "Interface of {name} reports retransmissions, probes pass",
            type="node",
        ),
    ),
    nears=(
        Near("runs_on>Deployment mounts>ConfigMap", "timeouts are as before and small calls pass"),
        Near("part_of>Namespace constrains<NetworkPolicy", "it allows the peers; dials succeed"),
    ),
)
