"""Values in one form, whoever wrote them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.ingest.cloud import forms
from heldout.ingest.cloud.rules import entries, routes, rules
from heldout.ingest.cloud.shape import shapes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
FORMS = [
    forms.text, forms.lower, forms.number, forms.switch, forms.words, forms.tags, forms.last,
    forms.host, forms.document, forms.current_document, rules, routes,
    lambda value: entries(value, egress=True),
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(value=JSON, form=st.sampled_from(FORMS))
def test_a_form_takes_anything_and_gives_data(value, form):
    """No value makes a form fail, and what it gives can be written as JSON, twice the same."""
    found = form(value)
    assert json.dumps(found, sort_keys=True) == json.dumps(form(value), sort_keys=True)


@settings(max_examples=60, deadline=None)
@given(value=JSON, path=st.sampled_from(["a", "a.b", "a[].b", "a|b.c", "", "tags[].key"]))
def test_digging_takes_anything(value, path):
    """A path leads to something or to nothing in any data."""
    forms.dig(value, path)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("DBInstanceClass", "db_instance_class"),
        ("dBInstanceClass", "db_instance_class"),
        ("db_instance_class", "db_instance_class"),
        ("Ipv6CidrBlock", "ipv6_cidr_block"),
        ("MultiAZ", "multi_az"),
        ("TargetGroupARNs", "target_group_arns"),
        ("vpcId", "vpc_id"),
        ("ARN", "arn"),
    ],
)
def test_keys_of_all_sides_are_one(name: str, same: str):
    """A describe call, a recorder and a state write the same key in three ways."""
    assert forms.snake(name) == same


def test_a_policy_is_the_same_decoded_encoded_and_with_single_values():
    """What a state holds as text, a recorder as percent codes and a call as data is equal."""
    plain = {"Statement": [{"Effect": "Allow", "Action": ["s3:Get*"], "Resource": ["b", "a"]}]}
    text = json.dumps(
        {"Statement": {"Resource": ["a", "b"], "Action": "s3:Get*", "Effect": "Allow"}}
    )
    encoded = "".join(f"%{byte:02X}" for byte in text.encode())
    assert forms.document(plain) == forms.document(text) == forms.document(encoded)
    other = {"Statement": [{"Effect": "Deny", "Action": ["s3:Get*"], "Resource": ["b", "a"]}]}
    assert forms.document(plain) != forms.document(other)


def test_rules_of_both_sides_are_the_same_lines():
    """A state's blocks and a call's permissions tell the same rules, one line for each peer."""
    declared = [{"protocol": "6", "from_port": "443", "to_port": 443, "self": False,
                 "cidr_blocks": ["10.0.0.0/8"], "ipv6_cidr_blocks": ["::/0"]},
                {"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["10.9.0.0/16"]}]  # fmt: skip
    running = [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443,
                "IpRanges": [{"CidrIp": "10.0.0.0/8"}], "Ipv6Ranges": [{"CidrIpv6": "::/0"}]},
               {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.9.0.0/16"}]}]  # fmt: skip
    assert rules(declared) == rules(running)
    assert rules(running) == [
        "all all from 10.9.0.0/16", "tcp 443 from 10.0.0.0/8", "tcp 443 from ::/0",
    ]  # fmt: skip


def test_the_routes_that_every_table_has_are_no_routes():
    """Local, learned and endpoint routes are left out, on whichever side they are told."""
    running = [{"DestinationCidrBlock": "10.0.0.0/16", "GatewayId": "local"},
               {"DestinationCidrBlock": "10.7.0.0/16", "GatewayId": "vgw-1",
                "Origin": "EnableVgwRoutePropagation"},
               {"DestinationPrefixListId": "pl-1", "GatewayId": "vpce-1"},
               {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1"}]  # fmt: skip
    assert routes(running) == ["0.0.0.0/0 via nat-1"]


def test_every_running_path_is_one_that_the_provider_publishes():
    """Each path of a shape exists in the published model of an answer that lists the shape."""
    session = pytest.importorskip(
        "botocore.session", reason="botocore has the models"
    ).get_session()
    unknown = {
        f"{shape.name}.{trait.field}: {trait.running}"
        for shape in shapes().values()
        for trait in shape.traits
        if trait.running and trait.field != "tags" and not _published(session, shape, trait.running)
    }
    assert unknown <= {
        # What only a recorder, a further call or an attribute list tells.
        *(one for one in unknown if one.startswith(("Queue.", "Topic.", "Bucket."))),
        "Function.reserved_concurrency: reserved_concurrent_executions",
        "KmsKey.rotation: key_rotation_status",
        "OidcProvider.audiences: client_id_list",
        "HttpApi.protocol: protocol_type", "RestApi.description: description",
        "Distribution.enabled: enabled", "Distribution.status: status",
        "Distribution.host: domain_name",
    }  # fmt: skip


SERVICES = {"elasticloadbalancing": ("elbv2", "elb"), "elasticfilesystem": ("efs",),
            "apigateway": ("apigateway", "apigatewayv2"), "": ("iam", "route53")}  # fmt: skip


def _published(session, shape, path: str) -> bool:
    for service in SERVICES.get(shape.service, (shape.service,)):
        model = session.get_service_model(service)
        for name in model.operation_names:
            output = model.operation_model(name).output_shape
            for key, member in output.members.items() if output is not None else ():
                for listed in _listed(key, member, shape.listed):
                    if any(_leads(listed, one.split(".")) for one in path.split("|")):
                        return True
    return False


def _listed(key, member, keys):
    if key in keys:
        yield member
    inner = member.member if member.type_name == "list" else member
    if inner.type_name == "structure" and key in ("Reservations", "HostedZone", *keys):
        yield from (two for name, two in inner.members.items() if name in keys)


def _leads(shape, steps) -> bool:
    shape = shape.member if shape.type_name == "list" else shape
    if not steps or shape.type_name != "structure":
        return not steps or shape.type_name == "map"
    step = steps[0].removesuffix("[]")
    return any(
        _leads(member, steps[1:])
        for name, member in shape.members.items()
        if forms.snake(name) == step
    )
