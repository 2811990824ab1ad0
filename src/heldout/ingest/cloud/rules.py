"""Rules of firewalls and routes as lines of text, the same from a state and from an inventory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.ingest.cloud.forms import MAX_ITEMS, dig, pick, text

_PROTOCOLS = {"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "-1": "all", "all": "all"}
_PEERS = (
    "cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids", "security_groups", "cidr_ipv4",
    "cidr_ipv6", "prefix_list_id", "referenced_security_group_id", "source_security_group_id",
    "ip_ranges", "ipv4_ranges", "ipv6_ranges", "user_id_group_pairs", "referenced_group_info",
)  # fmt: skip
_PEER_KEYS = ("cidr_ip", "cidr_ipv6", "cidr_ipv4", "group_id", "prefix_list_id")
_TARGETS = (
    "gateway_id", "nat_gateway_id", "transit_gateway_id", "vpc_peering_connection_id",
    "network_interface_id", "instance_id", "egress_only_gateway_id",
    "egress_only_internet_gateway_id", "local_gateway_id", "carrier_gateway_id", "vpc_endpoint_id",
    "core_network_arn",
)  # fmt: skip
_DESTINATIONS = (
    "destination_cidr_block", "cidr_block", "destination_ipv6_cidr_block", "ipv6_cidr_block",
    "destination_prefix_list_id",
)  # fmt: skip
_LAST_ENTRY = 32_767
"""The entry that every list of rules ends with; no state holds it."""


def rules(value: Any) -> list[str] | None:
    """Rules of a security group, one line for each peer: ``tcp 443 from 10.0.0.0/8``.

    The group itself as a peer is ``self``.
    """
    if not isinstance(value, list):
        return None
    lines = {line for one in value if isinstance(one, Mapping) for line in rule_lines(one)}
    return sorted(lines)[:MAX_ITEMS]


def rule_lines(one: Mapping[str, Any], own: str = "") -> Iterator[str]:
    """The lines of one rule; ``own`` is the id of the group that it belongs to."""
    way = f"{protocol(_first(one, 'protocol', 'ip_protocol'))} {_ports(one)} from "
    if one.get("self") in (True, "true"):
        yield f"{way}self"
    for peer in _peers(one):
        yield way + ("self" if own and peer == own else peer)


def _first(one: Mapping[str, Any], *names: str) -> Any:
    return next((found for name in names if (found := pick(one, name)) is not None), None)


def protocol(value: Any) -> str:
    """A protocol by name, whether it was given by name or number."""
    found = (text(value) or "all").lower()
    return _PROTOCOLS.get(found, found)


def _ports(one: Mapping[str, Any]) -> str:
    """``443``, ``8000-8080`` or ``all``."""
    first, end = text(pick(one, "from_port")), text(pick(one, "to_port"))
    anything = protocol(_first(one, "protocol", "ip_protocol")) == "all"
    if anything or first is None or (first, end) in (("0", "65535"), ("-1", "-1")):
        return "all"
    return first if end in (None, first) else f"{first}-{end}"


def _peers(one: Mapping[str, Any]) -> Iterator[str]:
    for name in _PEERS:
        value = pick(one, name)
        for peer in value if isinstance(value, list) else [value]:
            if isinstance(peer, Mapping):
                peer = next((found for key in _PEER_KEYS if (found := pick(peer, key))), None)
            word = text(peer)
            if word:
                yield word.rsplit("/", 1)[-1] if word.count("/sg-") else word


def routes(value: Any) -> list[str] | None:
    """Routes as ``0.0.0.0/0 via igw-1``; those that every table has or learns are left out."""
    if not isinstance(value, list):
        return None
    lines = {line for one in value if isinstance(one, Mapping) if (line := route_line(one))}
    return sorted(lines)[:MAX_ITEMS]


def route_line(one: Mapping[str, Any]) -> str | None:
    """One route; ``None`` for the local one, a propagated one, or a gateway endpoint's."""
    target = next((found for name in _TARGETS if (found := text(pick(one, name)))), None)
    where = next((found for name in _DESTINATIONS if (found := text(pick(one, name)))), None)
    learned = text(pick(one, "origin")) in ("EnableVgwRoutePropagation", "CreateRouteTable")
    if target is None or where is None or target == "local" or learned:
        return None
    return (
        None if target.startswith("vpce-") and where.startswith("pl-") else f"{where} via {target}"
    )


def entries(value: Any, *, egress: bool) -> list[str] | None:
    """Entries of a network ACL in one direction: ``100 allow tcp 443 10.0.0.0/8``."""
    if not isinstance(value, list):
        return None
    lines = {
        line
        for one in value
        if isinstance(one, Mapping) and _direction(one, egress) == egress
        if (line := entry_line(one))
    }
    return sorted(lines)[:MAX_ITEMS]


def _direction(one: Mapping[str, Any], default: bool) -> bool:
    found = pick(one, "egress")
    return default if found is None else found in (True, "true")


def entry_line(one: Mapping[str, Any]) -> str | None:
    """One entry of a network ACL; ``None`` for the one that denies the rest."""
    order = text(_first(one, "rule_no", "rule_number"))
    if order is None or order in (str(_LAST_ENTRY), str(_LAST_ENTRY + 1)):
        return None
    spread = dig(one, "port_range")
    ends = {"from_port": pick(spread, "from"), "to_port": pick(spread, "to")} if spread else one
    ports = _ports({**ends, "protocol": pick(one, "protocol")})
    peer = text(_first(one, "cidr_block")) or text(_first(one, "ipv6_cidr_block")) or "nothing"
    action = (text(_first(one, "action", "rule_action")) or "").lower()
    return f"{order} {action} {protocol(pick(one, 'protocol'))} {ports} {peer}"
