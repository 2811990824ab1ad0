"""What real exports get wrong, each beside a control in which nothing is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.iac import states
from tests.ingest.manifests import write

from heldout.errors import IngestError
from heldout.graph import read_table
from heldout.ingest.alerting import alerts_in, rules_in
from heldout.ingest.changes.audit import Audit
from heldout.ingest.changes.cloudtrail import Trail
from heldout.ingest.changes.people import People
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions, importer
from heldout.ingest.kubernetes import read
from heldout.ingest.redaction import Redactor

AT = "2026-03-04T10:00:00Z"
NOW = 1_772_625_600_000_000
BARE = {"metadata": {"name": "tug", "namespace": "dock"}}


def kinds_of(folder: Path, name: str, document: Any) -> list[str]:
    """The ontology's kinds of what one file of JSON holds."""
    write(folder, name, json.dumps(document))
    return [one.entity_kind for one in read(folder).objects]


@pytest.mark.parametrize(
    ("path", "document", "expected"),
    [
        # What lists of typed clients leave out: the list says it, else the path, else nobody.
        ("a.json", {"kind": "PodList", "apiVersion": "v1", "items": [BARE]}, ["Pod"]),
        ("deployments/a.json", {"kind": "PodList", "items": [BARE]}, ["Pod"]),
        ("deployments/a.json", {"items": [BARE]}, ["Deployment"]),
        ("deployments/a.json", [BARE], ["Deployment"]),
        ("deployments/a.json", {"kind": "PodList", "items": [{"kind": "Node", **BARE}]}, ["Node"]),
        ("stuff/a.json", {"items": [BARE]}, []),
        # A group of its own has kinds of its own, and the items of its lists do not say so.
        ("a.json", {"kind": "ServiceList", "apiVersion": "serving.example.test/v1",
                    "items": [BARE]}, ["CustomResource"]),
        ("a.json", {"kind": "ServiceList", "apiVersion": "v1", "items": [BARE]}, ["K8sService"]),
        ("a.json", {"kind": "List", "apiVersion": "v1", "items": [{
            "kind": "PodList", "apiVersion": "v1", "items": [BARE]}]}, ["Pod"]),
        ("a.json", {"kind": "PodList", "items": None}, []),
    ],
)  # fmt: skip
def test_items_without_a_kind_take_it_from_what_is_nearest(
    tmp_path: Path, path: str, document: Any, expected: list[str]
):
    """An item's own word counts first, then its list's, then the path's; without any it is none."""
    assert kinds_of(tmp_path, path, document) == expected


@pytest.mark.parametrize(
    ("second", "lost"), [({"metadata": {"name": "strange"}}, "kind of 'strange'"), (BARE, "")]
)
def test_an_item_that_nobody_names_is_refused_aloud(
    tmp_path: Path, second: dict[str, Any], lost: str
):
    """Of a list that was read, an item without a kind is told, and --strict writes nothing."""
    good = {"kind": "Pod", **BARE}
    write(tmp_path, "a.json", json.dumps([good, {"kind": "Pod", **second} if not lost else second]))
    report = read(tmp_path).report
    assert [one.outcome for one in report.files] == ["read"]
    assert bool(report.problems()) is bool(lost)
    if lost:
        assert lost in report.problems()[0]
        with pytest.raises(IngestError, match="kind of 'strange'"):
            report.require_whole()


def test_a_template_beside_manifests_is_skipped_alone(tmp_path: Path):
    """A file with holes is a record, and what stands beside it is read as if it were not there."""
    whole = "kind: ConfigMap\nmetadata: {name: a, namespace: dock}\n"
    write(tmp_path, "a.yaml", whole)
    write(tmp_path, "b.yaml", whole.replace("name: a", "name: {{ .Values.name }}"))
    write(tmp_path, "c.yaml", whole.replace("name: a", "name: '{{ name }}'"))
    write(tmp_path, "d.yaml", whole.replace("name: a", "name: d, note: 'costs {{ 5 }} dollars'"))
    records = {one.path: one.outcome for one in read(tmp_path).report.files}
    assert records == {
        "a.yaml": "read", "b.yaml": "templated, skipped", "c.yaml": "templated, skipped",
        "d.yaml": "read",
    }  # fmt: skip
    assert [one.name for one in read(tmp_path).objects] == ["a", "d"]


def world_of(tmp_path: Path, kind: str, source: Path, **options: Any) -> Path:
    """The world that an import of one kind gives."""
    with WorldDraft(name="w") as draft:
        importer(kind).read_into(source, draft, ImportOptions(**options))
        draft.write(tmp_path / "w", now=NOW)
    return tmp_path / "w"


def test_states_that_are_no_states_have_a_record_each(tmp_path: Path):
    """Empty, cut and linked states do not end an import; a link within it is read as a file."""
    folder = tmp_path / "in"
    states.put(folder, "good.tfstate", states.network())
    states.put(folder, "empty.tfstate", "")
    states.put(folder, "cut.tfstate", json.dumps(states.network())[:400])
    states.put(tmp_path, "outside.tfstate", states.network())
    os.symlink(tmp_path / "outside.tfstate", folder / "out.tfstate")
    os.symlink(folder / "nowhere", folder / "dangling.tfstate")
    with WorldDraft(name="w") as draft:
        importer("terraform").read_into(folder, draft, ImportOptions())
        outcomes = {one.path: one.outcome for one in draft.report.files}
    assert outcomes == {
        "good.tfstate": "read", "empty.tfstate": "empty, skipped",
        "cut.tfstate": "unreadable, skipped", "out.tfstate": "link, skipped",
        "dangling.tfstate": "unreadable, skipped",
    }  # fmt: skip


def call(name: str, number: int, **more: Any) -> dict[str, Any]:
    """One call of a trail."""
    return {
        "eventTime": AT, "eventSource": "iam.amazonaws.com", "eventName": name,
        "eventID": f"{name}-{number}", "awsRegion": "eu-west-1",
        "recipientAccountId": "111122223333",
        "userIdentity": {"type": "IAMUser", "userName": "ada"},
        "requestParameters": {"roleName": "crane"}, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrap",
    [
        lambda one: {"Records": [one]},
        lambda one: [one],
        lambda one: {"source": "aws.iam", "detail-type": "call", "detail": one},
        lambda one: {"CloudTrailEvent": json.dumps(one)},
        lambda one: one,
    ],
    ids=["file", "array", "bus", "lookup", "bare"],
)
def test_a_call_is_the_same_however_it_is_wrapped(wrap: Any):
    """Files, arrays, bus events and look-ups give one change with the same id."""
    (found,) = Trail(People()).read(wrap(call("DeleteRole", 1)))
    assert found.summary == "iam DeleteRole of crane"
    assert found.key.endswith("DeleteRole-1")


@pytest.mark.parametrize(
    ("more", "summary"),
    [
        ({}, "iam PutRolePolicy of crane"),
        ({"readOnly": "false"}, "iam PutRolePolicy of crane"),
        ({"readOnly": False}, "iam PutRolePolicy of crane"),
        ({"readOnly": "true"}, None),
        ({"readOnly": True}, None),
        ({"errorCode": "Client.RequestLimitExceeded"}, None),
        ({"errorCode": "ThrottledException"}, None),
        ({"errorCode": "PriorRequestNotComplete"}, None),
        ({"errorCode": "AccessDenied"}, "attempted (AccessDenied): iam PutRolePolicy of crane"),
        ({"errorCode": None}, "iam PutRolePolicy of crane"),
    ],
)
def test_only_a_write_that_happened_is_a_change(
    tmp_path: Path, more: dict[str, Any], summary: str | None
):
    """Reads and throttled calls are none, and what was refused moved nothing and says so."""
    sent = {"roleName": "crane", "policyName": "lift"}
    calls = [call("DeleteRole", 2), call("PutRolePolicy", 1, requestParameters=sent, **more)]
    write(tmp_path / "in", "a.json", json.dumps(calls))
    world = world_of(tmp_path, "changes", tmp_path / "in")
    rows = {row["summary"] for row in read_table(world, "change_event")}
    assert rows == {"iam DeleteRole of crane"} | ({summary} if summary else set())
    happened = summary is not None and "attempted" not in summary
    assert bool(read_table(world, "change_diff")) is happened


def request(number: int = 1, **more: Any) -> dict[str, Any]:
    """One audit event about a Deployment."""
    return {
        "auditID": f"id-{number}", "stage": "ResponseComplete", "verb": "update", "level": "Request",
        "stageTimestamp": AT, "user": {"username": "ada"}, "responseStatus": {"code": 200},
        "objectRef": {"resource": "deployments", "namespace": "dock", "name": "crane",
                      "apiGroup": "extensions", "apiVersion": "v1beta1"},
        "requestObject": {"kind": "Deployment", "apiVersion": "extensions/v1beta1",
                          "metadata": {"name": "crane"}, "spec": {"replicas": 3}}, **more,
    }  # fmt: skip


def requests(*events: Any) -> list[Any]:
    """The changes of some audit events."""
    return list(Audit(People(), Redactor()).read(list(events)))


def test_an_event_in_an_envelope_is_the_event():
    """An audit event that a cloud wraps as text gives the change of the bare one; broken text none."""
    bare = requests(request())
    wrapped = {"records": [{"category": "kube-audit", "properties": {
        "log": json.dumps(request())}}]}  # fmt: skip
    assert requests(wrapped) == bare
    assert [one.targets[0].kind for one in bare] == ["Deployment"]
    wrapped["records"][0]["properties"]["log"] = json.dumps(request())[:80]  # type: ignore[index]
    assert requests(wrapped) == []


def test_stages_and_servers_of_one_request_are_one_change():
    """One id is one change, whatever stages and servers tell it; another id is another change."""
    later = request(stageTimestamp="2026-03-04T10:00:00.250000Z")
    early = request(stage="RequestReceived")
    assert len(requests(early, request(), later)) == 1
    assert len(requests(request(1), request(2))) == 2
    unnamed = request(auditID="")
    assert len(requests(unnamed, {**unnamed, "stageTimestamp": "2026-03-04T10:05:00Z"})) == 2


@pytest.mark.parametrize(
    ("more", "fields"),
    [
        ({"level": "Metadata", "requestObject": None}, ["unknown"]),
        ({}, ["replicas"]),
        ({"responseStatus": {"code": 403}}, []),
        ({"verb": "delete", "requestObject": None}, []),
    ],
)
def test_a_request_without_its_body_moves_an_unknown_field(more: dict[str, Any], fields: list[str]):
    """Where only metadata were recorded the field is unknown, never guessed and never left out."""
    (found,) = requests(request(**more))
    moved = [one.field for one in found.moved]
    assert set(fields) <= set(moved) if fields else moved == []


LABELS = {"alertname": "CraneDown", "namespace": "dock", "severity": "page"}
NEVER = "0001-01-01T00:00:00Z"
ENDED = "2026-03-04T10:30:00Z"


@pytest.mark.parametrize(
    ("document", "state"),
    [
        ({"version": "4", "status": "firing", "alerts": [
            {"labels": LABELS, "startsAt": AT, "endsAt": NEVER}]}, "firing"),
        ({"version": "4", "alerts": [{"labels": LABELS, "startsAt": AT, "endsAt": ENDED}]},
         "resolved"),
        ([{"labels": LABELS, "startsAt": AT, "endsAt": "2026-03-04T10:05:00Z",
           "status": {"state": "active"}, "fingerprint": "f1"}], "firing"),
        ([{"labels": LABELS, "startsAt": AT, "endsAt": NEVER, "fingerprint": "f1"}], "firing"),
        ({"aggregation_key": "CraneDown", "subject_type": "deployment", "subject_name": "crane",
          "subject_namespace": "dock", "starts_at": AT, "ends_at": None, "priority": "page"},
         "firing"),
        ({"aggregation_key": "CraneDown", "starts_at": AT, "ends_at": NEVER, "priority": "page"},
         "firing"),
        ({"aggregation_key": "CraneDown", "starts_at": AT, "ends_at": ENDED, "priority": "page"},
         "resolved"),
    ],
)  # fmt: skip
def test_an_alert_of_any_shape_that_has_not_ended_fires(document: Any, state: str):
    """Messages, lists and findings tell one alert; the year 1 is no end, another time is one."""
    (found,) = alerts_in(document)
    assert (found.rule, found.severity, found.state) == ("CraneDown", "page", state)
    assert found.at == 1_772_618_400_000_000


def test_an_alert_file_that_breaks_off_is_told(tmp_path: Path):
    """What a cut file said before the cut is kept, and the cut stands in the report."""
    alert = {"labels": LABELS, "startsAt": AT, "endsAt": NEVER}
    whole = f"{json.dumps(alert)}\n{json.dumps({**alert, 'startsAt': ENDED})}\n"
    for text, problems in ((whole + json.dumps(alert)[:40], 1), (whole, 0)):
        write(tmp_path / "in", "a.jsonl", text)
        with WorldDraft(name="w") as draft:
            importer("alerts").read_into(tmp_path / "in", draft, ImportOptions())
            assert draft.report.files[0].objects == 2
            assert len(draft.report.problems()) == problems


KEY = "AKIA" + "QWERTYUIOPASDFGH"
BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nTUlJRXBB\n-----END RSA PRIVATE KEY-----"


def test_one_secret_is_one_placeholder_in_all_kinds_of_material(tmp_path: Path):
    """A key that a trail and a manifest name is the same afterwards, and another is another."""
    other = "AKIA" + "ZXCVBNMASDFGHJKL"
    write(tmp_path / "changes", "a.json", json.dumps([
        call("UpdateAccessKey", 1, requestParameters={"accessKeyId": KEY, "userName": "ada"}),
        call("UpdateAccessKey", 2, requestParameters={"accessKeyId": other, "userName": "eve"}),
    ]))  # fmt: skip
    manifest = {"kind": "ConfigMap", "metadata": {"name": "c", "namespace": "dock"},
                "data": {"note": f"uses {KEY}", "pem": BLOCK, "plain": "AKIN-to-a-key"}}  # fmt: skip
    write(tmp_path / "kubernetes", "a.json", json.dumps(manifest))
    with WorldDraft(name="w") as draft:
        for kind in ("changes", "kubernetes"):
            importer(kind).read_into(tmp_path / kind, draft, ImportOptions())
        first, second = draft.redactor.placeholder(KEY), draft.redactor.placeholder(other)
        draft.write(tmp_path / "w", now=NOW)
    everything = "".join(
        json.dumps(read_table(tmp_path / "w", table))
        for table in ("entity", "fact", "change_event", "change_diff")
    )
    assert first != second
    for secret in (KEY, other, "TUlJRXBB"):
        assert secret not in everything
    assert everything.count(first) >= 2
    assert second in everything
    assert "AKIN-to-a-key" in everything


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=10),
    st.sampled_from((AT, NEVER, "true", "update", "ResponseComplete", "x" * 3_000)),
)  # fmt: skip
NAMES = st.sampled_from((
    "Records", "detail", "eventName", "eventTime", "eventSource", "userIdentity", "resources",
    "requestParameters", "responseElements", "errorCode", "readOnly", "arn", "ARN", "sessionContext",
    "CloudTrailEvent", "items", "records", "properties", "log", "objectRef", "verb", "auditID",
    "stage", "stageTimestamp", "user", "username", "responseStatus", "code", "requestObject",
    "responseObject", "resource", "name", "namespace", "kind", "protoPayload", "methodName",
    "alerts", "labels", "annotations", "startsAt", "endsAt", "status", "state", "commonLabels",
    "aggregation_key", "subject", "title", "groups", "rules", "alert", "spec", "data", "raw",
))  # fmt: skip
DOCUMENTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=7),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_no_record_of_any_shape_ends_an_import(document: Any, part: Any):
    """Trails, audits, alerts and rules of any shape give records or nothing."""
    base = part if isinstance(part, dict) else {"resources": part}
    for one in (document, {**call("PutRolePolicy", 1), **base}, {**request(), **base}):
        list(Trail(People()).read(one))
        list(Audit(People(), Redactor()).read(one))
        list(alerts_in(one))
        list(rules_in(one))
