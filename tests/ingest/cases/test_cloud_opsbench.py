"""A user's copy of Cloud-OpsBench, on miniatures written by hand to its described shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heldout.graph import read_tables
from heldout.ingest.cases.case import Recorded, Skipped, case_importer
from heldout.ingest.importer import ImportOptions

DESCRIBED = """\
Name:             salter-6c9f7d4b5-x2x9q
Namespace:        quay
Status:           Pending
Labels:           app=salter
Controlled By:  ReplicaSet/salter-6c9f7d4b5
Containers:
  server:
    Image:         example.org/salter:2
    State:          Waiting
      Reason:       ErrImagePull
    Ready:          False
    Restart Count:  0
Events:
  Type     Reason     Age                 From               Message
  ----     ------     ----                ----               -------
  Warning  Failed     30s (x3 over 90s)   kubelet            Failed to pull image
"""
DEPLOYMENT = "Name:         salter\nNamespace:    quay\nReplicas:     1 desired | 0 available\n"
PODS = (
    "NAME                     READY   STATUS         RESTARTS   AGE\n"
    "salter-6c9f7d4b5-x2x9q   0/1     ErrImagePull   0          90s\n"
)


def call(tool: str, **args: str) -> str:
    """A key as the recordings have it."""
    return f"{tool}:{json.dumps(args, separators=(',', ':'))}"


def case(root: Path, number: int, cause: str, target: str = "app/salter", **more: Any) -> Path:
    """One case of a category folder whose name tells the cause."""
    folder = root / "benchmark" / "quay" / "startup" / str(number)
    (folder / "raw_data").mkdir(parents=True)
    result = {"fault_taxonomy": "Startup_Fault", "fault_object": target, "root_cause": cause}
    said = {"namespace": "quay", "query": "The shop does not answer.", "result": result,
            "process": {"path1": ["DescribeResource::salter"]}, **more}  # fmt: skip
    (folder / "metadata.json").write_text(json.dumps(said), encoding="utf-8")
    cache = {
        "collection_timestamp": "2031-05-05T08:00:00Z",
        call("GetResources", resource_type="pods", namespace="quay"): PODS,
        call("GetResources", resource_type="pod", namespace="quay"): PODS,
        call("DescribeResource", resource_type="pod", name="salter-6c9f7d4b5-x2x9q"): DESCRIBED,
        call("DescribeResource", resource_type="deployment", name="salter"): DEPLOYMENT,
        call("CheckNodeServiceStatus", node="n1", service="kubelet"): "kubelet is active",
        call("GetAppYAML", app="salter"): (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: quay}\n"
            "data: {password: c2VjcmV0LXdvcmQ=}\n"
        ),
        "CheckServiceConnectivity-stray": "text",
    }
    (folder / "tool_cache.json").write_text(json.dumps(cache), encoding="utf-8")
    (folder / "raw_data" / "logs.json").write_text(
        json.dumps(
            {"salter": ["2031-05-05T07:59:00Z ERROR no image"], "salter.previous": "old line"}
        ),
        encoding="utf-8",
    )
    (folder / "raw_data" / "metrics.csv").write_text(
        "\ufefftime,salter-cpu\n2031-05-05 07:59:50,0.5\n2031-05-05 07:59:55,0.7\n",
        encoding="utf-8",
    )
    (folder / "raw_data" / "alert.json").write_text(
        json.dumps(
            [{"service": "salter", "type": "latency", "start_time": "2031-05-05T07:59:00Z"}]
        ),
        encoding="utf-8",
    )
    return folder


def cases(root: Path) -> list[Recorded | Skipped]:
    """Every case."""
    return list(case_importer("cloud-opsbench").cases(root, ImportOptions()))


def test_a_case_is_a_frozen_cluster_with_its_truth(tmp_path: Path):
    """Objects once although told under two names, events, lines, series, an alert, and the gap."""
    case(tmp_path, 1, "image_pull_failure")
    (one,) = cases(tmp_path)
    assert isinstance(one, Recorded)
    draft = one.draft
    (pod,) = draft.find(kind="Pod")
    assert draft.value(pod, "container_states")["server"]["reason"] == "ErrImagePull"
    (deployment,) = draft.find(kind="Deployment", name="salter")
    assert one.truth.culprit_entity == deployment
    assert one.truth.mechanism_terms == (("image",), ("pull",))
    assert one.group == "cloudopsbench/image_pull_failure"
    world = tmp_path / "world"
    draft.write(world, now=one.now)
    rows = read_tables(
        world, {"log": ("msg",), "change_event": ("type",), "metric_series": ("name",),
                "alert": ("entity_id",), "data_gap": ("source", "note")},
    )  # fmt: skip
    assert {"no image", "old line", "n1 kubelet: kubelet is active"} <= {
        row["msg"] for row in rows["log"]
    }
    assert [row["name"] for row in rows["metric_series"]] == ["cpu"]
    assert [row["entity_id"] for row in rows["alert"]] == [deployment]
    assert {row["type"] for row in rows["change_event"]} == {"runtime"}
    assert "changes" in {row["source"] for row in rows["data_gap"]}


def test_labels_paths_and_secrets_stay_out(tmp_path: Path):
    """No word of the result, of the expert's path or of the folder is in world or alert."""
    folder = case(tmp_path, 1, "image_pull_failure")
    (one,) = cases(tmp_path)
    assert isinstance(one, Recorded)
    world = tmp_path / "world"
    one.draft.write(world, now=one.now)
    shown = one.alert + "".join(
        path.read_bytes().decode("utf-8", "replace") for path in world.rglob("*") if path.is_file()
    )
    told = ("image_pull_failure", "Startup_Fault", "DescribeResource::", "c2VjcmV0LXdvcmQ=")
    assert [word for word in told if word in shown] == []
    assert "image_pull_failure" in (folder / "metadata.json").read_text()  # The control.


def test_older_labels_are_refused_and_not_mixed(tmp_path: Path):
    """An object written as a service is the older repository's."""
    case(tmp_path, 1, "image_pull_failure", "service/salter")
    case(tmp_path, 2, "image_pull_failure", "app/nobody")
    old, gone = cases(tmp_path)
    assert isinstance(old, Skipped)
    assert "older" in old.reason
    assert isinstance(gone, Skipped)
    assert "nothing named nobody" in gone.reason


def test_both_spellings_of_a_cause_are_right(tmp_path: Path):
    """The list shown to agents spells two causes otherwise; an obedient answer passes too."""
    from heldout.interface import Submission
    from heldout.judge import judge_exact

    case(tmp_path, 1, "db_read_only")
    (one,) = cases(tmp_path)
    assert isinstance(one, Recorded)
    for said, right in (("db_readonly_mode", "pass"), ("db_read_only", "pass"), ("slow", "fail")):
        answer = Submission(one.truth.culprit_entity, None, f"The cause is {said}.")
        assert judge_exact(answer, one.truth).result == right


def test_it_is_halved_by_cause(tmp_path: Path):
    """The importer says so; a test of sets shows that no cause then stands on both sides."""
    assert case_importer("cloud-opsbench").halves
