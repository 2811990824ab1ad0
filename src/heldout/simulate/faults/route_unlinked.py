"""A queued apply took a store's subnets off their route table; replies find no way back."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="route_unlinked",
    domain="network",
    family="routing",
    source=(
        "public: cloud-platform 2024-09-20 (a forgotten change ran with a resumed queue and "
        "destroyed route table associations), own words"
    ),
    seat="DbInstance",
    holder=("part_of>Subnet", "routes_to<RouteTable"),
    field="subnet_associations",
    said="{subnet associations}",
    values=((3, 0), (2, 0), (4, 0)),
    logs=(
        (
            "no route back to the callers: {holder} has {said}={new}, reply to session {0} "
            "dropped after {1} ms"
        ),
        "sessions from before the move survive ({0} left), new ones get no reply; {said} is {new}",
    ),
    gauge=Gauge("replies_unrouted", "per_min", 0, 310),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Failover of {name} to its other zone completed",
        prose="a planned failover moved the store to where replies need the lost route",
    ),
    mechanism=(
        "The route table's subnet associations went from {old} to {new}; sessions that were open "
        "survived, and after the failover replies to new ones found no route back to the callers"
    ),
    terms=(
        ("route", "routes", "route table", "routing", "unrouted"),
        (
            "association",
            "associations",
            "associated",
            "unassociated",
            "disassociated",
            "no longer attached",
        ),
    ),
    fix="Associate the subnets with {holder} again ({old}), and drain the apply queue by hand",
    effects=(
        Effect("part_of>Subnet", "Subnet {name} follows the main table; it has none of its own"),
    ),
    nears=(
        Near("part_of>Subnet", "the subnet did not change, it lost the table it was tied to"),
        Near("guarded_by>SecurityGroup", "its rules still admit the callers; replies get lost"),
    ),
)
