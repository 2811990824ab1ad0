"""Real states, plans and recorded items, where they are at hand; never part of the project."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.ingest.iac.imported import Imported, imported
from tests.real import real

from heldout.graph.reconciliation import reconcile

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """Every state and plan of the folder in one world."""
    return imported(tmp_path_factory.mktemp("real") / "w", terraform=real("terraform"))


def test_broken_states_are_records_each_with_its_reason(states: Imported):
    """Four empty files, two that do not parse, one that is no state; three parse and are odd."""
    outcomes = {one.path: one.outcome for one in states.files if one.path.startswith("broken/")}
    assert sorted(outcomes.values()) == [
        "empty, skipped", "empty, skipped", "empty, skipped", "empty, skipped", "no object",
        "no object", "read", "unreadable, skipped", "unreadable, skipped",
    ]  # fmt: skip


def test_every_other_state_and_plan_is_read(states: Imported):
    """All but one, which holds a data source only, give resources."""
    odd = {one.path for one in states.files
           if not one.path.startswith("broken/") and one.outcome != "read"}  # fmt: skip
    assert odd == {"states/data_source/terraform.tfstate"}


def test_a_plan_gives_no_change(states: Imported):
    """Sixteen creations and an update are planned, and none has happened."""
    assert states.changes() == []
    planned = reconcile(states.world).planned
    assert planned == {"create": 16, "update": 1}


def test_rules_and_attachments_are_told_of_what_they_belong_to(states: Imported):
    """Eleven rules of three groups that no state declares, and listeners of a balancer."""
    told = [
        json_field
        for entity in states.world.graph.entities.values()
        if entity.kind == "SecurityGroup"
        for json_field in states.world.facts.at(entity.id, states.world.now)
    ]
    assert told.count("declared_parts.ingress") + told.count("declared_parts.egress") >= 3
    assert states.told("LoadBalancer", "test-lb-tf", "iac")["listeners"] == ["HTTP 80"]
    assert "tf-example-lb-tg" in states.ends("LoadBalancer", "test-lb-tf", "routes_to")


def test_nothing_secret_is_left(states: Imported):
    """No access key, password or secret of the states is in the world."""
    assert re.findall(r"\bAKIA\w+|redactedSecret\w+|redacted-secret-\d+", states.text()) == []


def test_recorded_items_inside_rule_invocations_are_found(tmp_path: Path):
    """Two invocations of a rule hold an instance and a group; the other events hold no inventory."""
    found = imported(tmp_path / "w", aws=real("changes", "eventbridge"))
    assert [one.path for one in found.files if one.outcome == "read"] == [
        "event-config-rule-instance.json", "event-config-rule-security-group.json",
    ]  # fmt: skip
    result = reconcile(found.world)
    assert {one.kind for one in result.groups} == {"VmInstance", "SecurityGroup"}
    assert found.told("SecurityGroup", "sg_open_ssh", "aws")["ingress"] == ["tcp 22 from 0.0.0.0/0"]
