"""Things that are declared or listed by themselves and are part of another: rules, routes, ties.

A part becomes lines or a value of a field of its whole, and edges. It is no resource of its own:
whoever looks at a firewall wants its rules, wherever they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from heldout.ingest.cloud.forms import current_document, dig, pick, switch, text
from heldout.ingest.cloud.rules import entry_line, route_line, rule_lines
from heldout.ingest.cloud.shape import Attributes


class Whole(NamedTuple):
    """What a part belongs to: a shape and an id, name or ARN."""

    shape: str
    value: str


class Lines(NamedTuple):
    """Lines that a part adds to a field of its whole."""

    whole: Whole
    field: str
    lines: tuple[str, ...]


class Value(NamedTuple):
    """The value that a part gives a field of its whole."""

    whole: Whole
    field: str
    value: Any


class Tie(NamedTuple):
    """An edge that a part stands for."""

    src: Whole
    predicate: str
    dst: Whole


Part = Lines | Value | Tie
Reader = Callable[[Attributes], Iterator[Part]]

JOINED = {
    "SecurityGroup": ("ingress", "egress"),
    "RouteTable": ("routes", "refers.subnet"),
    "NetworkAcl": ("ingress", "egress", "refers.subnet"),
    "IamRole": ("policies", "inline_policies"),
    "IamUser": ("policies", "inline_policies"),
    "IamGroup": ("policies", "inline_policies"),
    "LoadBalancer": ("listeners",),
    "TargetGroup": ("targets",),
}
"""Fields whose lines may come from several places, by shape; known once everything is read."""

SETTLED = {
    "Bucket": ("versioning", "encryption", "policy", "public_access_blocked", "acl"),
    "Queue": ("policy",),
    "Topic": ("policy",),
    "Repository": ("policy",),
}
"""Fields that a part of its own settles, whatever the whole says of them, by shape."""


def _whole(shape: str, attributes: Attributes, path: str) -> Whole | None:
    value = text(dig(attributes, path))
    return Whole(shape, value) if value else None


def _listed(value: Any) -> list[str]:
    return [word for one in (value if isinstance(value, list) else [value]) if (word := text(one))]


def _group_rule(attributes: Attributes) -> Iterator[Part]:
    whole = _whole("SecurityGroup", attributes, "security_group_id")
    way = text(pick(attributes, "type"))
    if whole and way in ("ingress", "egress"):
        yield Lines(whole, way, tuple(rule_lines(attributes, whole.value)))


def _one_way(way: str) -> Reader:
    def read(attributes: Attributes) -> Iterator[Part]:
        whole = _whole("SecurityGroup", attributes, "security_group_id")
        if whole:
            yield Lines(whole, way, tuple(rule_lines(attributes, whole.value)))

    return read


def _listed_rule(attributes: Attributes) -> Iterator[Part]:
    whole = _whole("SecurityGroup", attributes, "group_id")
    if whole:
        way = "egress" if pick(attributes, "is_egress") in (True, "true") else "ingress"
        yield Lines(whole, way, tuple(rule_lines(attributes, whole.value)))


def _route(attributes: Attributes) -> Iterator[Part]:
    whole, line = _whole("RouteTable", attributes, "route_table_id"), route_line(attributes)
    if whole and line:
        yield Lines(whole, "routes", (line,))


def _association(shape: str, path: str, predicate: str, *, inverse: bool) -> Reader:
    def read(attributes: Attributes) -> Iterator[Part]:
        whole, subnet = _whole(shape, attributes, path), _whole("Subnet", attributes, "subnet_id")
        if whole and subnet:
            yield Lines(whole, "refers.subnet", (subnet.value,))
            yield Tie(subnet, predicate, whole) if inverse else Tie(whole, predicate, subnet)

    return read


def _entry(attributes: Attributes) -> Iterator[Part]:
    whole, line = _whole("NetworkAcl", attributes, "network_acl_id"), entry_line(attributes)
    if whole and line:
        way = "egress" if pick(attributes, "egress") in (True, "true") else "ingress"
        yield Lines(whole, way, (line,))


_PRINCIPALS = (
    ("IamRole", ("role", "roles")),
    ("IamUser", ("user", "users")),
    ("IamGroup", ("group", "groups")),
)  # fmt: skip


def _attachment(attributes: Attributes) -> Iterator[Part]:
    policy = text(pick(attributes, "policy_arn"))
    for shape, names in _PRINCIPALS:
        for principal in (one for name in names for one in _listed(pick(attributes, name))):
            if policy:
                yield Lines(Whole(shape, principal), "policies", (policy.rsplit("/", 1)[-1],))
                yield Tie(Whole("IamPolicy", policy), "grants", Whole(shape, principal))


def _inline(attributes: Attributes) -> Iterator[Part]:
    name = text(pick(attributes, "name"))
    document = current_document(pick(attributes, "policy"))
    for shape, (one, _) in _PRINCIPALS:
        whole = _whole(shape, attributes, one)
        if whole and name:
            yield Lines(whole, "inline_policies", (name,))
            if document is not None:
                yield Value(whole, f"inline_policy.{name[:100]}", document)


def _listener(attributes: Attributes) -> Iterator[Part]:
    whole = _whole("LoadBalancer", attributes, "load_balancer_arn")
    if whole is None:
        return
    port, protocol = text(pick(attributes, "port")), text(pick(attributes, "protocol"))
    if port:
        yield Lines(whole, "listeners", (f"{protocol or 'any'} {port}",))
    for action in _mappings(attributes, "default_action", "default_actions"):
        for target in _forwarded(action):
            yield Tie(whole, "routes_to", Whole("TargetGroup", target))
    listed = [text(pick(one, "certificate_arn")) for one in _mappings(attributes, "certificates")]
    for one in (text(pick(attributes, "certificate_arn")), *listed):
        if one:
            yield Tie(whole, "terminates_tls_with", Whole("Certificate", one))


def _mappings(attributes: Attributes, *names: str) -> Iterator[Mapping[str, Any]]:
    for name in names:
        value = pick(attributes, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Mapping):
                yield one


def _forwarded(action: Mapping[str, Any]) -> set[str]:
    forward = dig(action, "forward_config|forward")
    groups = _mappings(forward, "target_group", "target_groups") if forward else ()
    if isinstance(forward, list):
        groups = (two for one in forward for two in _mappings(one, "target_group"))
    found = {text(dig(one, "target_group_arn|arn")) for one in groups}
    return {one for one in (*found, text(pick(action, "target_group_arn"))) if one}


def _target(attributes: Attributes) -> Iterator[Part]:
    whole = _whole("TargetGroup", attributes, "target_group_arn|lb_target_group_arn")
    target = text(pick(attributes, "target_id"))
    group = text(pick(attributes, "autoscaling_group_name"))
    if whole and target:
        yield Lines(whole, "targets", (target,))
        shape = "Function" if ":function:" in target else "VmInstance"
        yield Tie(whole, "routes_to", Whole(shape, target))
    if whole and group:
        yield Tie(whole, "routes_to", Whole("AutoScalingGroup", group))


def _tied(src: str, src_path: str, dst: str, dst_path: str) -> Reader:
    def read(attributes: Attributes) -> Iterator[Part]:
        one, two = _whole(src, attributes, src_path), _whole(dst, attributes, dst_path)
        if one and two:
            yield Tie(one, "part_of", two)

    return read


def _valued(shape: str, key: str, field: str, path: str, form: Callable[[Any], Any]) -> Reader:
    def read(attributes: Attributes) -> Iterator[Part]:
        whole, value = _whole(shape, attributes, key), form(dig(attributes, path))
        if whole and value is not None:
            yield Value(whole, field, value)

    return read


DECLARED_PARTS: Mapping[str, Reader] = {
    "aws_security_group_rule": _group_rule,
    "aws_vpc_security_group_ingress_rule": _one_way("ingress"),
    "aws_vpc_security_group_egress_rule": _one_way("egress"),
    "aws_route": _route,
    "aws_route_table_association": _association(
        "RouteTable", "route_table_id", "routes_to", inverse=False
    ),
    "aws_network_acl_rule": _entry,
    "aws_network_acl_association": _association(
        "NetworkAcl", "network_acl_id", "guarded_by", inverse=True
    ),
    "aws_iam_role_policy_attachment": _attachment,
    "aws_iam_user_policy_attachment": _attachment,
    "aws_iam_group_policy_attachment": _attachment,
    "aws_iam_policy_attachment": _attachment,
    "aws_iam_role_policy": _inline,
    "aws_iam_user_policy": _inline,
    "aws_iam_group_policy": _inline,
    "aws_lb_listener": _listener,
    "aws_alb_listener": _listener,
    "aws_lb_target_group_attachment": _target,
    "aws_alb_target_group_attachment": _target,
    "aws_autoscaling_attachment": _target,
    "aws_volume_attachment": _tied("Volume", "volume_id", "VmInstance", "instance_id"),
    "aws_eip_association": _tied("ElasticIp", "allocation_id", "VmInstance", "instance_id"),
    "aws_internet_gateway_attachment": _tied(
        "InternetGateway", "internet_gateway_id", "Vpc", "vpc_id"
    ),
    "aws_s3_bucket_versioning": _valued(
        "Bucket", "bucket", "versioning", "versioning_configuration.status", switch
    ),
    "aws_s3_bucket_policy": _valued("Bucket", "bucket", "policy", "policy", current_document),
    "aws_s3_bucket_acl": _valued("Bucket", "bucket", "acl", "acl", text),
    "aws_s3_bucket_public_access_block": _valued(
        "Bucket", "bucket", "public_access_blocked", "block_public_acls", switch
    ),
    "aws_s3_bucket_server_side_encryption_configuration": _valued(
        "Bucket", "bucket", "encryption",
        "rule.apply_server_side_encryption_by_default.sse_algorithm", text,
    ),
    "aws_sqs_queue_policy": _valued("Queue", "queue_url", "policy", "policy", current_document),
    "aws_sns_topic_policy": _valued("Topic", "arn", "policy", "policy", current_document),
    "aws_ecr_repository_policy": _valued(
        "Repository", "repository", "policy", "policy", current_document
    ),
}  # fmt: skip
"""Readers of parts by the resource type of a state. A part that cannot be placed gives nothing."""

LISTED_PARTS: Mapping[str, Reader] = {
    "SecurityGroupRules": _listed_rule,
    "Listeners": _listener,
}
"""Readers of parts by the key of a describe answer."""
