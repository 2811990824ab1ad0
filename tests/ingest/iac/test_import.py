"""A folder of states and one of inventories become one world, in which the two sides are joined."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.ingest.iac import inventories, states
from tests.ingest.iac.imported import NOW, Imported, imported

from heldout.graph.reconciliation import reconcile
from heldout.graph.world import World
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions, importer


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """States, a plan, an apply log and the inventory of the invented estate."""
    folder = tmp_path_factory.mktemp("estate")
    states.put(folder / "tf", "network/terraform.tfstate", states.network())
    states.put(folder / "tf", "platform/terraform.tfstate", states.platform())
    states.put(folder / "tf", "platform/plan.json", states.plan())
    states.put(folder / "tf", "old/terraform.tfstate", states.version_3())
    states.put(folder / "tf", "broken/empty.tfstate", "")
    states.put(folder / "tf", "broken/cut.tfstate", json.dumps(states.network())[:500])
    states.put(folder / "tf", "broken/two.tfstate", {"version": 2, "serial": 1, "modules": []})
    (folder / "tf/broken/folder.tfstate").mkdir()
    (folder / "tf/broken/link.tfstate").symlink_to("/etc/hostname")
    inventories.put_answers(folder / "aws")
    return imported(folder / "w", terraform=folder / "tf", aws=folder / "aws")


def test_a_bad_file_is_a_record_and_not_the_end(estate: Imported):
    """Empty, cut, of an old version, a link out of the folder: each with its reason."""
    outcomes = estate.outcomes("broken/")
    assert outcomes["broken/empty.tfstate"].startswith("empty")
    assert "does not parse" in outcomes["broken/cut.tfstate"]
    assert "version 2" in outcomes["broken/two.tfstate"]
    assert "link" in outcomes["broken/link.tfstate"]
    assert estate.named("VmInstance", "web-1")


@pytest.mark.parametrize(
    ("kind", "name", "predicate", "other"),
    [
        ("Subnet", "subnet-0b1", "part_of", "edge"),
        ("RouteTable", "rtb-0d1", "routes_to", "subnet-0b1"),
        ("Subnet", "subnet-0b1", "guarded_by", "acl-0f1"),
        ("VmInstance", "web-1", "guarded_by", "web"),
        ("DbInstance", "orders", "guarded_by", "web"),
        ("DbParameterGroup", "orders-params", "constrains", "orders"),
        ("IamPolicy", "read-queue", "grants", "worker"),
        ("LoadBalancer", "front", "routes_to", "web"),
        ("LoadBalancer", "front", "terminates_tls_with", "www.shop.example"),
        ("CustomResource", "web", "routes_to", "web-1"),
        ("DnsRecord", "www.shop.example", "resolves_to", "front"),
        ("NodeGroup", "general", "runs_on", "main"),
        ("Cluster", "main", "uses_identity", "worker"),
        ("Vpc", "edge", "declared_in", "network"),
        ("Vpc", "edge", "part_of", states.ACCOUNT),
        ("VmInstance", "debug", "part_of", "subnet-0b1"),
    ],
)
def test_resources_hang_together(
    estate: Imported, kind: str, name: str, predicate: str, other: str
):
    """Networks, guards, rights, traffic and names lead from one resource to the other."""
    assert other in estate.ends(kind, name, predicate)


def test_rules_that_stand_apart_are_rules_of_their_group(estate: Imported):
    """A rule resource, a route and a bucket setting are fields of what they belong to."""
    group = estate.told("SecurityGroup", "web", "iac")
    assert group["ingress"] == ["tcp 443 from 10.0.0.0/8", "tcp 9000-9100 from self"]
    assert estate.told("RouteTable", "rtb-0d1", "iac")["routes"] == ["0.0.0.0/0 via igw-0e1"]
    assert estate.told("Bucket", "shop-exports", "iac")["versioning"] is True
    assert estate.told("LoadBalancer", "front", "iac")["listeners"] == ["HTTPS 443"]
    assert estate.told("IamRole", "worker", "iac")["policies"] == ["read-queue"]


def test_both_sides_of_a_resource_are_one_entity(estate: Imported):
    """By ARN, by id and by name within the account, whatever the two sides called it."""
    for kind, name in (("VmInstance", "web-1"), ("Queue", "jobs"), ("Bucket", "shop-exports"),
                       ("DnsRecord", "www.shop.example"), ("IamRole", "worker")):  # fmt: skip
        assert len(estate.named(kind, name)) == 1, name
        assert (
            estate.told(kind, name, "iac")["cloud_type"]
            == estate.told(kind, name, "aws")["cloud_type"]
        )


def test_declared_and_observed_say_who_said_it(estate: Imported):
    """What a state says is declared by IaC, what an inventory says is observed."""
    rows = estate.rows("DbInstance", "orders")
    said = {(one.source, one.provenance) for one in rows}
    assert said == {("iac", "declared"), ("aws", "observed")}
    values = {(one.source, one.value_json) for one in rows if one.field == "multi_az"}
    assert values == {("iac", "true"), ("aws", "false")}


def test_an_unknown_type_is_kept_and_counted(estate: Imported):
    """A type without a shape is a custom resource that says what it is."""
    found = estate.told("CustomResource", "nightly", "iac")
    assert found["custom_kind"] == "aws_appflow_flow"
    assert found["enabled"] is True
    assert estate.unknown["aws_appflow_flow"] == 1
    assert estate.unknown["Things"] == 2


def test_no_secret_gets_into_a_world(estate: Imported):
    """Marked as sensitive or only named like a secret: neither value is anywhere in it."""
    text = estate.text()
    assert "orders" in text
    assert "hunter2" not in text
    assert "swordfish" not in text


def test_a_plan_is_no_change(estate: Imported):
    """What is planned is a fact of the resource; nothing has happened by it."""
    assert estate.told("VmInstance", "web-1", "iac")["planned"] == "update"
    assert estate.told("VmInstance", "web-1", "iac")["planned.instance_type"] == "m6i.xlarge"
    assert estate.changes() == []


def test_an_apply_log_makes_the_plan_a_change(tmp_path: Path):
    """When and what comes from the log, the fields from the plan beside it."""
    states.put(tmp_path / "tf", "platform/terraform.tfstate", states.platform())
    states.put(tmp_path / "tf", "platform/plan.json", states.plan())
    states.put(tmp_path / "tf", "platform/apply.jsonl", states.apply_log())
    found = imported(tmp_path / "w", terraform=tmp_path / "tf")
    (change,) = found.changes()
    assert change["type"] == "iac_apply"
    assert change["ts"] == 1_771_578_904_000_000
    assert ("instance_type", "m6i.large", "m6i.xlarge") in found.diffs()
    assert "planned" not in found.told("VmInstance", "web-1", "iac")


def test_a_recorded_history_is_a_history(tmp_path: Path):
    """Facts hold from the moment they were recorded, and what moved is a change."""
    states.put(tmp_path / "aws", "history.json", inventories.history())
    found = imported(tmp_path / "w", aws=tmp_path / "aws")
    rows = [one for one in found.rows("SecurityGroup", "web") if one.field == "ingress"]
    rows.sort(key=lambda one: one.valid_from)
    assert rows[0].valid_to == rows[1].valid_from == 1_771_500_600_000_000
    assert json.loads(rows[1].value_json) == ["tcp 443 from 0.0.0.0/0", "tcp 443 from 10.0.0.0/8"]
    (change,) = found.changes()
    assert (change["type"], change["ts"]) == ("cloud_api", 1_771_500_600_000_000)


def test_what_was_recorded_as_deleted_does_not_run(tmp_path: Path):
    """Its facts end when it was seen to be gone, and a declared one is told to be absent."""
    states.put(tmp_path / "tf", "terraform.tfstate", states.network())
    gone = inventories.group_item(at=inventories.LATER, status="ResourceDeleted")
    states.put(tmp_path / "aws", "history.json",
               {"configurationItems": [inventories.group_item("10.0.0.0/8"), gone]})  # fmt: skip
    states.put(tmp_path / "aws", f"{states.ACCOUNT}/{states.REGION}/describe-security-groups.json",
               {"SecurityGroups": []})  # fmt: skip
    found = imported(tmp_path / "w", terraform=tmp_path / "tf", aws=tmp_path / "aws")
    result = reconcile(found.world)
    assert ("web", True) in [(one.name, one.looked) for one in result.absent]


def test_tags_alone_say_that_something_runs(tmp_path: Path):
    """An answer about tags names resources of every type by ARN, known types and others."""
    queue, flow = states.arn("sqs", "jobs"), states.arn("appflow", "flow/flow-1")
    tags = [{"Key": "Team", "Value": "edge"}]
    states.put(tmp_path / "tf", "terraform.tfstate", states.platform())
    states.put(tmp_path / "aws", "tags.json", {"ResourceTagMappingList": [
        {"ResourceARN": queue, "Tags": tags}, {"ResourceARN": flow, "Tags": []}]})  # fmt: skip
    found = imported(tmp_path / "w", terraform=tmp_path / "tf", aws=tmp_path / "aws")
    assert found.told("Queue", "jobs", "aws")["tags"] == {"Team": "edge"}
    assert found.told("CustomResource", "nightly", "aws")["cloud_type"] == "appflow:flow"


def test_an_id_that_fits_two_accounts_is_joined_to_none(tmp_path: Path):
    """A database of one name in two accounts, and an inventory that does not say which."""
    for account in ("111111111111", "222222222222"):
        store = {"id": "orders", "identifier": "orders", "engine": "postgres",
                 "arn": states.arn("rds", "db:orders", account=account)}  # fmt: skip
        states.put(tmp_path / "tf", f"{account}/terraform.tfstate", states.state(
            states.managed("aws_db_instance", "orders", store), lineage=account))  # fmt: skip
    states.put(
        tmp_path / "aws", "stores.json", {"DBInstances": [{"DBInstanceIdentifier": "orders"}]}
    )
    found = imported(tmp_path / "w", terraform=tmp_path / "tf", aws=tmp_path / "aws")
    assert len(found.named("DbInstance", "orders")) == 3
    states.put(tmp_path / "aws", "111111111111/eu-west-1/stores.json",
               {"DBInstances": [{"DBInstanceIdentifier": "orders"}]})  # fmt: skip
    (tmp_path / "aws/stores.json").unlink()
    found = imported(tmp_path / "v", terraform=tmp_path / "tf", aws=tmp_path / "aws")
    assert len(found.named("DbInstance", "orders")) == 2


def test_the_drift_of_the_estate(estate: Imported):
    """One instance and one bucket by hand, three fields that differ, a certificate that is gone."""
    found = reconcile(estate.world)
    assert {name for _, name, _, _ in found.undeclared} == {"debug", "shop-scratch", "t-2"}
    assert {(one.name, one.field) for one in found.differences} == {
        ("orders", "multi_az"), ("web", "ingress"), ("rtb-0d1", "refers.subnet"),
    }  # fmt: skip
    (opened,) = [one for one in found.differences if one.field == "ingress"]
    assert (opened.declared, opened.running) == ([], ["tcp 22 from 203.0.113.9/32"])
    assert "www.shop.example" in {one.name for one in found.absent if one.looked}
    assert "subnet-0b1" in {one.name for one in found.absent if not one.looked}
    assert sum(one.serviced for one in found.groups) == 5


def test_the_same_files_make_the_same_world(tmp_path: Path):
    """The digest depends on what was read alone."""
    digests = set()
    for name in ("one", "two"):
        states.put(tmp_path / name / "tf", "terraform.tfstate", states.network())
        inventories.put_answers(tmp_path / name / "aws")
        found = imported(tmp_path / name / "w", terraform=tmp_path / name / "tf",
                         aws=tmp_path / name / "aws")  # fmt: skip
        digests.add(found.digest)
    assert len(digests) == 1


def test_what_is_added_later_joins_what_is_there(tmp_path: Path):
    """A world with one side, opened again and given the other, has each resource once."""
    states.put(tmp_path / "tf", "platform/terraform.tfstate", states.platform())
    inventories.put_answers(tmp_path / "aws")
    imported(tmp_path / "w", terraform=tmp_path / "tf")
    with WorldDraft(base=tmp_path / "w") as draft:
        importer("aws").read_into(tmp_path / "aws", draft, ImportOptions())
        draft.write(tmp_path / "w", now=NOW)
        assert draft.report.joined["ARN or id"] >= 6
    world = World(tmp_path / "w")
    assert len([one for one in world.graph.entities.values() if one.name == "jobs"]) == 1
    fields = {(one.name, one.field) for one in reconcile(world).differences}
    assert ("orders", "multi_az") in fields
