"""Answers of describe and list calls, and items of the configuration recorder."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.iac.inventories import AT, answers, group_item, history, item
from tests.ingest.iac.states import ACCOUNT, REGION, arn

from heldout.ingest.aws.answers import Hint, Item, Listed, hint_of, read_answer
from heldout.ingest.aws.recorder import items_of, read_moment, record_of
from heldout.ingest.cloud.origin import made_by
from heldout.ingest.cloud.record import Place, generic_record, read_record
from heldout.ingest.cloud.shape import by_listed, shapes

HERE = Place(ACCOUNT, REGION)
KEYS = st.sampled_from([
    "Vpcs", "Reservations", "Instances", "items", "Attributes", "configurationItems", "detail",
    "configurationItem", "resourceType", "resourceId", "configuration", "Results", "Tags", "Key",
    "invokingEvent", "VpcId", "Arn", "QueueUrls", "NextToken", "eu-west-1", "ResourceRecordSets",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(raw=JSON)
def test_any_data_is_read_without_an_error(raw):
    """Whatever an answer or an item holds, each thing in it becomes a record or nothing."""
    for found in read_answer(raw, Hint(HERE)):
        if isinstance(found, Item):
            shape = by_listed().get(found.key)
            made_by(shape.name if shape else found.key, found.attributes)
            if shape:
                read_record(shape, found.attributes, "running", found.place)
            generic_record(found.key, found.attributes, "running", found.place)
    for one in items_of(raw):
        moment = read_moment(one, HERE)
        if moment is not None:
            record_of(moment)


@settings(max_examples=60, deadline=None)
@given(
    raw=JSON, name=st.sampled_from(sorted(shapes())), side=st.sampled_from(["declared", "running"])
)
def test_any_attributes_make_a_record_or_none(raw, name, side):
    """No shape trusts what it reads; what it makes can be written as JSON."""
    record = read_record(
        shapes()[name], raw if isinstance(raw, dict) else {"id": "x", "v": raw}, side, HERE
    )
    if record is not None:
        assert json.dumps(record.fields)


@pytest.mark.parametrize(
    ("path", "account", "region", "key"),
    [
        (f"{ACCOUNT}/{REGION}/ec2-describe-vpcs.json", ACCOUNT, REGION, "Vpcs"),
        (f"prod-{ACCOUNT}/describe_db_instances.us-east-2.json", ACCOUNT, "us-east-2", ""),
        ("SecurityGroups.json", "", "", "SecurityGroups"),
        ("notes.json", "", "", ""),
    ],
)
def test_a_path_tells_account_region_and_call(path: str, account: str, region: str, key: str):
    """What the folders and the file are called fills what the answer itself does not say."""
    hint = hint_of(path)
    assert (hint.place.account, hint.place.region) == (account, region)
    assert not key or hint.key == key


@pytest.mark.parametrize(
    "raw",
    [
        {"eventName": "RunInstances", "responseElements": {"Vpcs": [{"VpcId": "vpc-1"}]}},
        {"detail-type": "x", "detail": {"findings": [{"Id": "1"}]}},
        {"Records": [{"eventName": "RunInstances", "id": "1"}]},
        {"wrapped": {"Vpcs": [{"VpcId": "vpc-1"}]}},
    ],
)
def test_an_event_is_no_inventory(raw):
    """What an event carries was asked or answered then; nothing runs by it."""
    assert list(read_answer(raw, Hint(HERE))) == []


def test_every_answer_gives_its_items():
    """Lists, nested reservations, bare names and attribute maps all come as items of a key."""
    found = [one for name, raw in answers().items() for one in read_answer(raw, Hint(HERE))]
    items = [one.key for one in found if isinstance(one, Item)]
    assert items.count("Instances") == 3
    assert items.count("QueueUrls") == 1
    asked = {one.key: one.whole for one in found if isinstance(one, Listed)}
    assert asked["CertificateSummaryList"] is True
    assert asked["Subnets"] is False


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"cluster": {"name": "main", "arn": arn("eks", "cluster/main")}}, "cluster"),
        ({"clusters": ["main"]}, "cluster"),
        ({"Attributes": {"QueueArn": arn("sqs", "jobs")}}, "QueueUrls"),
        ({"items": [{"id": "a1", "name": "shop", "apiKeySource": "HEADER"}]}, "rest_apis"),
        ({"Items": [{"ApiId": "b2"}]}, "Apis"),
        (
            {"DistributionList": {"Items": [{"Id": "E1", "DomainName": "d.example"}]}},
            "distributions",
        ),
        ({REGION: {"Vpcs": [{"VpcId": "vpc-1"}]}}, "Vpcs"),
        ([{"SubnetId": "subnet-1", "VpcId": "vpc-1"}], "Subnets"),
    ],
)
def test_an_answer_of_any_make_is_known(raw, key: str):
    """Single descriptions, lists of names, unnamed lists and maps by region."""
    items = [one for one in read_answer(raw, Hint(HERE)) if isinstance(one, Item)]
    assert [one.key for one in items] == [key]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda one: {"configurationItems": [one]},
        lambda one: {"fileVersion": "1.0", "configSnapshotId": "s", "configurationItems": [one]},
        lambda one: {"detail": {"configurationItem": one}},
        lambda one: {"invokingEvent": json.dumps({"configurationItem": one})},
        lambda one: {"Type": "Notification", "Message": json.dumps({"configurationItem": one})},
        lambda one: {"Results": [json.dumps(one)]},
        lambda one: {
            "baseConfigurationItems": [{**one, "configuration": json.dumps(one["configuration"])}]
        },
        lambda one: [one],
    ],
)
def test_an_item_is_found_however_it_is_wrapped(wrapped):
    """Snapshots, notifications, rule invocations and query results all hold the same item."""
    (found,) = items_of(wrapped(group_item("10.0.0.0/8")))
    moment = read_moment(found, Place())
    assert moment is not None
    record = record_of(moment)
    assert record is not None
    assert record.fields["ingress"] == ["tcp 443 from 10.0.0.0/8"]
    assert record.identity.place == HERE
    assert moment.at == 1_771_408_800_000_000


def test_what_is_gone_is_known_by_its_name_alone():
    """A deleted resource has no configuration, and is still the same resource."""
    moment = read_moment(group_item(status="ResourceDeleted"), Place())
    assert moment is not None
    record = record_of(moment)
    assert record is not None
    assert moment.gone
    assert record.identity.local == "sg-0c1"


def test_a_history_holds_each_of_its_items():
    """Four items of three resources, one with its configuration as text."""
    moments = [read_moment(one, Place()) for one in items_of(history())]
    assert len(moments) == 4
    tables = [record_of(one) for one in moments if one and one.type.endswith("Table")]
    assert tables[0] is not None
    assert tables[0].fields["billing"] == "provisioned"
    assert read_moment(item("", "x", {}), Place()) is None
    assert read_moment({"configurationItemCaptureTime": AT}, Place()) is None


@pytest.mark.parametrize(
    ("shape", "attributes", "maker"),
    [
        ("VmInstance", {"Tags": [{"Key": "aws:autoscaling:groupName", "Value": "g"}]}, "autoscaling group g"),
        ("Bucket", {"tags": {"aws:cloudformation:stack-name": "s"}}, "CloudFormation stack s"),
        ("Vpc", {"IsDefault": True}, "the provider's default"),
        ("Vpc", {"IsDefault": False}, ""),
        ("IamRole", {"Path": "/aws-service-role/x/"}, "a service-linked role"),
        ("IamRole", {"Path": "/"}, ""),
        ("IamPolicy", {"Arn": "arn:aws:iam::aws:policy/ReadOnly"}, "the provider"),
        ("RouteTable", {"Associations": [{"Main": True}]}, "the main table of its VPC"),
        ("KmsKey", {"KeyManager": "AWS"}, "the provider"),
        ("DbParameterGroup", {"DBParameterGroupName": "default.postgres16"}, "the provider's default"),
        ("SecurityGroup", {"GroupName": "web"}, ""),
    ],
)  # fmt: skip
def test_who_made_a_thing_is_told_by_the_thing(shape: str, attributes, maker: str):
    """Tags of controllers and known defaults name a maker; anything else was made by somebody."""
    assert made_by(shape, attributes) == maker
