"""A rule that let the workload reach its store was revoked; open connections survive."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="rule_revoked",
    domain="network",
    family="network filter",
    source=(
        "public: terraform-provider-aws #66 and PR #4726 (rules revoked, not added again), own "
        "words"
    ),
    seat="Service",
    holder=("reads_writes>DbInstance", "guarded_by>SecurityGroup"),
    field="ingress.data_port.cidrs",
    said="ingress.data_port",
    values=((["10.1.0.0/16", "10.2.0.0/16"], ["10.2.0.0/16"]), (["10.0.0.0/12"], ["10.9.0.0/16"])),
    logs=(
        (
            "dial timed out after {1} ms, no answer to SYN; ingress.data_port of {holder} does "
            "not list this subnet"
        ),
        "new connections blocked by {holder} while {0} old ones still work (ingress.data_port)",
    ),
    gauge=Gauge("dial_timeouts", "per_min", 0, 120),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Replicas of {name} were moved to other nodes",
        prose="moved replicas had to open new connections",
    ),
    mechanism=(
        "The ingress rule for the data port was narrowed from {old} to {new}; established "
        "connections survived, and when replicas moved every new connection timed out"
    ),
    terms=(
        ("ingress", "security group", "cidr", "firewall", "rule"),
        ("revoked", "narrowed", "removed", "missing", "not list", "no longer", "blocked",
         "blocks", "not allowed", "dropped"),
        ("data port", "data_port", "security group", "subnet", "range", "syn"),
    ),
    fix="Add the revoked range again ({old})",
    nears=(
        Near(
            "reads_writes>DbInstance",
            "it answers those who still reach it; old connections work",
        ),
        Near(
            "part_of>Namespace constrains<NetworkPolicy",
            "it lets the data tier out as before; packets are dropped at the far end",
        ),
    ),
)  # fmt: skip
