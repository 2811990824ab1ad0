"""Changes and alerts of recorded material: what is a change, whose it is, and what is not one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.real import real

from heldout.graph import read_table
from heldout.ingest.changes.cloudtrail import is_read
from heldout.ingest.changes.people import People
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions, importer

AT = "2026-03-04T10:00:00Z"


def trail(name: str, **more: Any) -> dict[str, Any]:
    """One event of a trail."""
    return {
        "eventTime": AT, "eventSource": "iam.amazonaws.com", "eventName": name,
        "eventID": f"{name}-{len(more)}", "awsRegion": "eu-west-1",
        "recipientAccountId": "111122223333",
        "userIdentity": {"type": "IAMUser", "userName": "ada"},
        "requestParameters": {"roleName": "crane"}, **more,
    }  # fmt: skip


def imported(tmp_path: Path, kind: str, source: Path, **options: Any) -> Path:
    """The world that an import of one kind gives."""
    with WorldDraft(name="w") as draft:
        importer(kind).read_into(source, draft, ImportOptions(**options))
        draft.write(tmp_path / "w")
    return tmp_path / "w"


def test_only_writes_that_happened_are_changes(tmp_path: Path):
    """Reads and throttled calls are none, a denied write is told as attempted, however wrapped."""
    events = [
        trail("DeleteRole"),
        trail("GetRole"),
        trail("AttachRolePolicy", readOnly="false", errorCode="AccessDenied"),
        trail("PutRolePolicy", errorCode="ThrottlingException"),
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(json.dumps({"Records": events}))
    (tmp_path / "in" / "b.json").write_text(
        json.dumps({"time": AT, "detail": trail("TagRole", x=1)})
    )
    rows = read_table(imported(tmp_path, "changes", tmp_path / "in"), "change_event")
    assert sorted(row["summary"] for row in rows) == [
        "attempted (AccessDenied): iam AttachRolePolicy of crane",
        "iam DeleteRole of crane",
        "iam TagRole of crane",
    ]
    assert {row["actor"] for row in rows} == {People().person("ada").name}
    assert is_read({"eventName": "DescribeInstances"})
    assert not is_read({"eventName": "DescribeInstances", "readOnly": "false"})


def test_an_update_tells_what_a_field_was(tmp_path: Path):
    """Stages of one request are one change, and its fields go from the state before to the next."""

    def audit(number: int, replicas: int, stage: str = "ResponseComplete") -> dict[str, Any]:
        body = {"kind": "Deployment", "apiVersion": "apps/v1", "spec": {"replicas": replicas},
                "metadata": {"name": "crane", "namespace": "dock"}}  # fmt: skip
        return {
            "auditID": str(number), "stage": stage, "verb": "create" if number == 1 else "update",
            "stageTimestamp": f"2026-03-04T10:0{number}:00Z", "user": {"username": "ada"},
            "objectRef": {"resource": "deployments", "namespace": "dock", "name": "crane"},
            "requestObject": body, "responseStatus": {"code": 200},
        }  # fmt: skip

    events = [audit(1, 2), audit(2, 5, "RequestReceived"), audit(2, 5), audit(2, 5)]
    wrapped = {"records": [{"properties": {"log": json.dumps(one)}} for one in events]}
    (tmp_path / "a.json").write_text(json.dumps(wrapped))
    world = imported(tmp_path, "changes", tmp_path / "a.json")
    assert len(read_table(world, "change_event")) == 2
    moved = {(row["old_json"], row["new_json"]) for row in read_table(world, "change_diff")
             if row["field"] == "replicas"}  # fmt: skip
    assert moved == {("null", "2"), ("2", "5")}


def test_a_repository_runs_nothing_of_its_own(tmp_path: Path):
    """Commits of manifests tell fields; a hostile diff driver, pager and hook are not started."""
    home = tmp_path / "repo"
    home.mkdir()
    git = ["git", "-C", str(home), "-c", "user.name=ada", "-c", "user.email=ada@example.net"]
    subprocess.run([*git, "init", "-q"], check=True)
    for replicas in (2, 5):
        (home / "crane.yaml").write_text(
            "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: crane, namespace: dock}\n"
            f"spec: {{replicas: {replicas}}}\n"
        )
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", f"Run {replicas} cranes (#{replicas})"], check=True)
    trap = tmp_path / "started"
    (home / ".gitattributes").write_text("*.yaml diff=evil\n")
    for name in ("diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager",
                 "core.fsmonitor", "gpg.program"):  # fmt: skip
        subprocess.run([*git, "config", name, f"touch {trap}; cat"], check=True)
    world = imported(tmp_path, "changes", home)
    assert not trap.exists()
    rows = read_table(world, "change_event")
    assert {(row["pr"], row["type"]) for row in rows} == {("2", "pr_merge"), ("5", "pr_merge")}
    moved = {
        row["new_json"] for row in read_table(world, "change_diff") if row["field"] == "replicas"
    }
    assert moved == {"2", "5"}


def test_an_alert_without_an_end_fires(tmp_path: Path):
    """The year 1 is no end; a finding and a rule are read beside it, a recording rule is not."""
    (tmp_path / "in").mkdir()
    hook = {"version": "4", "commonLabels": {"severity": "page"}, "alerts": [
        {"labels": {"alertname": "CraneDown", "namespace": "dock", "pod": "crane-1"},
         "startsAt": AT, "endsAt": "0001-01-01T00:00:00Z"}]}  # fmt: skip
    rules = {"groups": [{"name": "g", "rules": [{"alert": "CraneDown", "expr": "up == 0"},
                                               {"record": "r", "expr": "1"}]}]}  # fmt: skip
    (tmp_path / "in" / "hook.json").write_text(json.dumps(hook))
    (tmp_path / "in" / "rules.json").write_text(json.dumps(rules))
    world = imported(tmp_path, "alerts", tmp_path / "in")
    (row,) = read_table(world, "alert")
    assert (row["rule"], row["state"], row["severity"]) == ("CraneDown", "firing", "page")
    assert row["entity_id"]
    kinds = [one["kind"] for one in read_table(world, "entity")]
    assert kinds.count("AlertRule") == 1


@pytest.mark.real
def test_real_records_give_their_counts(tmp_path: Path):
    """Trails, audits and rules of public projects give the numbers that their sources name."""
    trails = imported(tmp_path, "changes", real("changes", "cloudtrail-invictus"))
    rows = read_table(trails, "change_event")
    assert sum(not row["summary"].startswith("attempted") for row in rows) == 463
    rules = imported(tmp_path, "alerts", real("alerts", "kube-prometheus-rules"))
    assert sum(row["kind"] == "AlertRule" for row in read_table(rules, "entity")) == 139
