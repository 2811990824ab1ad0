"""The account may start fewer processors than the next scale-out needs; nodes do not come."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="group_quota",
    domain="capacity",
    family="quota",
    source=(
        "public: kubernetes/autoscaler #2607 (a quota on processors refuses the nodes of a "
        "scale-up), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "runs_on>NodeGroup", "constrains<QuotaLimit"),
    field="vcpu_limit",
    said="{vcpu limit}",
    values=((512, 96), (384, 64), (256, 48)),
    logs=(
        (
            "replicas wait for a node that is not launched: {said}={new} of {holder} is used up, "
            "{0} requests queued"
        ),
        "running short, {0} requests shed; launch of instances refused at {said} {new}",
    ),
    gauge=Gauge("launches_refused", "per_min", 0, 22),
    trigger=Trigger(
        on="workload",
        type="runtime",
        summary="Scale-out of {name} asked for more replicas",
        prose="a peak asked for replicas and these for nodes",
        load=1.9,
    ),
    mechanism=(
        "The account's vCPU quota was lowered from {old} to {new}; running nodes stayed, and at "
        "the next scale-out the launch of further ones was refused, so replicas found no node"
    ),
    terms=(
        (
            "vcpu",
            "vcpus",
            "vcpu_limit",
            "cloud quota",
            "account quota",
            "instance quota",
            "processor quota",
        ),
        ("node", "nodes", "instance", "instances"),
        (
            "launch",
            "launched",
            "launches",
            "refused",
            "not started",
            "could not start",
            "used up",
            "exceeded",
        ),
    ),
    fix="Raise the quota back to {old} vCPUs",
    effects=(
        Effect(
            "runs_on>Deployment runs_on>NodeGroup",
            "Launch of an instance for {name} refused: VcpuLimitExceeded",
            type="node",
        ),
    ),
    nears=(
        Near("runs_on>Deployment runs_on>NodeGroup", "it asked for nodes and was refused them"),
        Near("runs_on>Deployment scales<Hpa", "it scaled as it should; its replicas had no node"),
    ),
)
