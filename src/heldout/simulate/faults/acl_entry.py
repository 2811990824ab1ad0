"""A subnet's stateless list lets requests in and no longer lets all replies out."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="acl_entry",
    domain="network",
    family="network filter",
    source=(
        "public: base/docs PR #1663 and modernisation-platform #6127 (a stateless list needs the "
        "whole range of reply ports), own words"
    ),
    seat="DbInstance",
    holder=("part_of>Subnet", "guarded_by>NetworkAcl"),
    field="egress.reply_ports",
    said="{reply ports}",
    values=(
        ("1024-65535", "49152-65535"),
        ("1024-65535", "60000-65535"),
        ("32768-65535", "49152-65535"),
    ),
    logs=(
        (
            "handshake never completes, {0} half open: replies to client ports below the range "
            "are dropped by a stateless list at the subnet ({said}={new} of {holder})"
        ),
        "new sessions succeed or hang by their client port, oldest hang {1} ms; {said} is {new}",
    ),
    gauge=Gauge("half_open_sessions", "count", 1, 340),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Callers of {name} recycled their connections",
        prose="recycled connections came from client ports below the new range",
    ),
    mechanism=(
        "The subnet's network ACL was narrowed to reply ports {new} (before: {old}); it keeps no "
        "state, so when connections were recycled replies to lower client ports were dropped"
    ),
    terms=(
        ("acl", "network acl", "nacl", "subnet rules", "stateless"),
        ("port", "ports", "reply_ports", "port range", "ephemeral"),
        ("reply", "replies", "return traffic", "returns", "reply_ports", "response packets"),
    ),
    fix="Open the reply ports {old} again",
    effects=(
        Effect("part_of>Subnet", "Flow summary of {name}: accepted inbound, rejected outbound"),
    ),
    nears=(
        Near("guarded_by>SecurityGroup", "it keeps state and admits the callers; unchanged"),
        Near("part_of>Subnet", "the subnet itself did not change"),
    ),
)
