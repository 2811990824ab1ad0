"""States and plans of Terraform, of every version and in every condition."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.iac.states import apply_log, network, plan, platform, state, version_3

from heldout.ingest.terraform import read_document
from heldout.ingest.terraform.applied import read_apply
from heldout.ingest.terraform.document import NoDocument
from heldout.ingest.terraform.flatmap import unflatten
from heldout.ingest.terraform.records import managed, place_of, read_resource, read_step
from heldout.ingest.terraform.sensitive import marked_paths, without
from heldout.ingest.terraform.stacks import Dated, current, stack_name

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["version", "resources", "modules", "type", "name", "instances", "values",
                         "attributes", "primary", "resource_changes", "change", "after", "before",
                         "root_module", "format_version", "id", "path", "address", "arn"]),
        inner, max_size=5),
    max_leaves=25,
)  # fmt: skip


def hide(value: object) -> str:
    """A placeholder."""
    return f"hidden-{len(str(value))}"


@settings(max_examples=120, deadline=None)
@given(raw=JSON)
def test_any_data_is_a_document_or_says_why_not(raw):
    """Whatever a file holds, it is read or refused by name, and its resources become records."""
    try:
        document = read_document(raw, hide)
    except NoDocument:
        return
    place = place_of(document.resources)
    for resource in managed(document.resources):
        read_resource(resource, place)
    for one in document.planned:
        read_step(one, place)


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 400), of=st.sampled_from([network, platform, version_3, plan]))
def test_a_document_with_a_part_missing_is_still_read(cut, of):
    """A state or plan without one of its keys, at any depth, is read or refused, never a crash."""
    raw = json.loads(json.dumps(of()))
    holders = []

    def walk(node):
        if isinstance(node, dict):
            holders.extend((node, key) for key in node)
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(raw)
    holder, key = holders[cut % len(holders)]
    del holder[key]
    test_any_data_is_a_document_or_says_why_not.hypothesis.inner_test(raw)


def test_version_3_becomes_nested_values():
    """Counted keys become lists and maps, modules and counts part of the address."""
    found = {one.address: one for one in read_document(version_3(), hide).resources}
    assert set(found) == {
        "aws_security_group.db", "data.aws_ami.base", "module.web.aws_instance.web[1]",
    }  # fmt: skip
    ingress = found["aws_security_group.db"].attributes["ingress"]
    assert ingress[0]["cidr_blocks"] == ["10.1.0.0/16", "10.2.0.0/16"]
    assert found["data.aws_ami.base"].data


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text("ab.#%1", max_size=8), st.text(max_size=3), max_size=8))
def test_any_flat_map_unfolds(flat):
    """Keys that contradict each other leave something out and never fail."""
    unflatten(flat)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ([], "no object"),
        ({}, "neither a state nor a plan"),
        ({"version": 2, "serial": 1, "modules": []}, "version 2"),
        ({"kind": "Pod"}, "neither a state nor a plan"),
    ],
)
def test_what_is_no_document_says_why(raw, why: str):
    """The reason names the version or what is missing."""
    with pytest.raises(NoDocument, match=why):
        read_document(raw, hide)


def test_sensitive_values_are_taken_out_by_path():
    """Paths of a version 4 state and masks of show -json both reach into blocks."""
    (resource,) = [
        one for one in read_document(platform(), hide).resources if one.type == "aws_db_instance"
    ]
    assert resource.attributes["password"].startswith("hidden-")
    assert "hunter2" not in json.dumps(
        [one.attributes for one in read_document(platform(), hide).resources]
    )
    mask = {"login": [{"password": True}], "name": False}
    found = without(
        {"login": [{"password": "x", "user": "y"}], "name": "n"}, marked_paths(mask), hide
    )
    assert found == {"login": [{"password": "hidden-1", "user": "y"}], "name": "n"}
    assert without({"login": [{"password": "x"}]}, [("login", "password")], hide) == {
        "login": [{"password": "hidden-1"}]
    }


def test_a_plan_names_what_would_change():
    """An update has its fields, in the common form or by their own names; a creation has none."""
    document = read_document(plan(), hide)
    steps = {one.resource.address: read_step(one, place_of(document.resources))
             for one in document.planned}  # fmt: skip
    update = steps["module.web.aws_instance.web"]
    assert update.verb == "update"
    assert update.diffs == (
        ("instance_type", "m6i.large", "m6i.xlarge"), ("user_data_hash", "one", "two"),
    )  # fmt: skip
    assert steps["aws_s3_bucket.new"].verb == "create"
    assert steps["aws_iam_role.worker"].verb == "no-op"


def test_an_apply_log_tells_what_was_done_and_when():
    """Lines of other programs are passed over; without a finished step there is no apply."""
    found = read_apply(apply_log().splitlines())
    assert found is not None
    assert [address for address, _, _ in found.steps] == [
        "module.web.aws_instance.web", "aws_s3_bucket.new",
    ]  # fmt: skip
    assert found.at == 1_771_578_904_000_000
    assert read_apply(apply_log().splitlines()[:1]) is None


def test_the_newest_serial_of_a_lineage_counts():
    """A backup beside its state is passed over with its reason; a copy in another folder is not."""
    given = [
        Dated("prod/terraform.tfstate", read_document(state(serial=9), hide)),
        Dated("prod/terraform.tfstate.backup", read_document(state(serial=8), hide)),
        Dated("dev/terraform.tfstate", read_document(state(serial=2), hide)),
    ]
    kept, passed = current(given)
    assert [one.path for one in kept] == ["dev/terraform.tfstate", "prod/terraform.tfstate"]
    assert "serial 8" in passed["prod/terraform.tfstate.backup"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("prod/terraform.tfstate", "prod"),
        ("prod/network.tfstate", "prod/network"),
        ("terraform.tfstate", "estate"),
        ("prod/plan.json", "prod"),
        ("prod/terraform.tfstate.backup", "prod"),
    ],
)
def test_a_stack_is_called_after_its_folder_or_file(path: str, name: str):
    """A file whose own name says nothing is called after its folder, at the top after the import."""
    assert stack_name(path, "estate") == name
