"""A namespace's egress policy no longer lists the data tier; open connections survive."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="egress_policy",
    domain="kubernetes",
    family="network filter",
    source="public: SREGym network_policy_block (a policy that cuts off a wanted peer), own words",
    seat="Service",
    holder=("part_of>Namespace", "constrains<NetworkPolicy"),
    field="egress_allow",
    said="egress_allow",
    values=((["mesh", "dns", "data"], ["mesh", "dns"]),),
    logs=(
        (
            "new connection to the data tier dropped on its way out after {1} ms: {holder} lists "
            "only {new} ({said}={new})"
        ),
        "{0} connections to data left, new ones dropped; {said} of {holder} is {new}",
    ),
    gauge=Gauge("egress_drops", "per_min", 0, 230),
    trigger=Trigger(
        on="reads_writes>DbInstance",
        type="runtime",
        summary="Idle connections of {name} were closed after maintenance",
        prose="maintenance of the store closed its connections, and they had to be opened anew",
    ),
    mechanism=(
        "The namespace's egress policy was narrowed from {old} to {new}, without the data tier; "
        "open connections survived, and after maintenance of the store new ones were dropped on "
        "their way out"
    ),
    terms=(
        ("egress", "egress_allow", "network policy", "networkpolicy", "outbound policy"),
        ("data", "store", "database"),
        ("dropped", "drops", "blocked", "blocks", "denied", "denies", "not allowed",
         "no longer allows", "narrowed", "removed", "lists only", "cut off"),
    ),
    fix="List the data tier again ({old})",
    effects=(Effect("workload", "Readiness of {name}: its store cannot be reached"),),
    nears=(
        Near("reads_writes>DbInstance", "it answers clients of other namespaces as ever"),
        Near(
            "reads_writes>DbInstance guarded_by>SecurityGroup",
            "it admits the same ranges as before; packets never get that far",
        ),
    ),
)  # fmt: skip
