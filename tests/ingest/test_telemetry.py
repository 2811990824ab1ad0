"""Logs and metrics as imports: worlds whose tools answer, joined to what was there before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.graph.conformance import ask, check_conformance
from tests.real import real

from heldout.errors import IngestError
from heldout.graph import WorldInterface, read_table
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import Importer, ImportOptions
from heldout.ingest.kinds import logs as logs_kind
from heldout.ingest.kinds import metrics as metrics_kind
from heldout.ingest.reading import FileRecord

LOGS, METRICS = logs_kind.IMPORTER, metrics_kind.IMPORTER
OPTIONS = ImportOptions(cluster="east")


def imported(
    importer: Importer, path: Path, world: Path, *, base: Path | None = None
) -> list[FileRecord]:
    """Import into a world; what became of the files."""
    with WorldDraft(base=base) as draft:
        importer.read_into(path, draft, OPTIONS)
        draft.write(world)
        return draft.report.files


def answer(world: Path, tool: str, **args: Any) -> dict[str, Any]:
    """What a tool says of a world."""
    return ask(WorldInterface().open(str(world), 1), tool, **args)


def record(minute: int, pod: str, text: str, level: str = "info") -> str:
    """A line as a collector forwards it."""
    where = {"pod_name": pod, "namespace_name": "shop", "container_name": "web", "host": "n1"}
    when = f"2026-03-04T10:{minute:02}:00Z"
    return json.dumps({"time": when, "level": level, "log": text, "kubernetes": where}) + "\n"


@pytest.fixture
def material(tmp_path: Path) -> Path:
    """A folder of logs and metrics of one small shop."""
    folder = tmp_path / "in"
    (folder / "pods" / "logs" / "shop" / "cart-7d").mkdir(parents=True)
    (folder / "web.jsonl").write_text(
        record(3, "web-1", "user ann came") + record(1, "web-1", "user bob came")
        + record(2, "web-2", "no room left password=hunter22x", "error"),
        encoding="utf-8",
    )  # fmt: skip
    (folder / "pods" / "logs" / "shop" / "cart-7d" / "main.log").write_text(
        "2026-03-04T10:02:30Z stderr F WARN slow\n", encoding="utf-8"
    )
    (folder / "readme.txt").write_text("nothing to see\n", encoding="utf-8")
    (folder / "broken.json").write_text('{"streams": [', encoding="utf-8")
    (folder / "cpu.csv").write_text(
        "timestamp,metric,value,pod,namespace\n"
        "2026-03-04T10:00:00Z,cpu_seconds_total,1,web-1,shop\n"
        "2026-03-04T10:00:15Z,cpu_seconds_total,2,web-1,shop\n"
        "2026-03-04T10:00:45Z,cpu_seconds_total,4,web-1,shop\n",
        encoding="utf-8",
    )
    now = {"data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "1"]}]}}
    (folder / "now.json").write_text(json.dumps(now), encoding="utf-8")
    return folder


def test_logs_become_lines_of_the_pods_that_said_them(material: Path, tmp_path: Path):
    """Out of order in, by time out; levels, patterns, pods in namespaces on nodes; no secret."""
    files = {one.path: one for one in imported(LOGS, material, tmp_path / "w")}
    found = answer(tmp_path / "w", "search_logs", query="")["rows"]
    assert [(row["entity_name"], row["level"], row["msg"]) for row in found] == [
        ("web-1", "INFO", "user ann came"),
        ("cart-7d", "WARN", "slow"),
        ("web-2", "ERROR", "no room left password=redacted-0001"),
        ("web-1", "INFO", "user bob came"),
    ]
    patterns = answer(tmp_path / "w", "log_patterns", since="2026-03-04T10:00:00Z",
                      until="2026-03-04T10:03:00Z")["rows"]  # fmt: skip
    assert ("user <*> came", 2) in [(row["pattern"], row["count"]) for row in patterns]
    edges = {(row["src"], row["pred"]) for row in read_table(tmp_path / "w", "edge")}
    assert {pred for src, pred in edges if src == found[0]["entity"]} == {"part_of", "runs_on"}
    assert files["broken.json"].outcome == "unreadable, skipped"
    assert "1 lines without a time" in files["readme.txt"].detail
    check_conformance(tmp_path / "w")


def test_metrics_become_series_of_the_same_pods(material: Path, tmp_path: Path):
    """A gap stays a gap; the pod of the logs is the pod of the metrics; an instant is refused."""
    imported(LOGS, material, tmp_path / "w")
    files = {
        one.path: one for one in imported(METRICS, material, tmp_path / "w", base=tmp_path / "w")
    }
    pods = [row for row in read_table(tmp_path / "w", "entity") if row["name"] == "web-1"]
    assert len(pods) == 1
    found = answer(tmp_path / "w", "query_metrics", entity=pods[0]["id"],
                   since="2026-03-04T10:00:00Z", until="2026-03-04T10:01:00Z")["rows"]  # fmt: skip
    assert [(row["name"], row["unit"], row["max"]) for row in found] == [
        ("cpu_seconds_total", "s", 4)
    ]
    assert [row["v"] for row in read_table(tmp_path / "w", "metric_value")] == [1, 2, None, 4]
    assert (files["now.json"].outcome, "instant vector" in files["now.json"].detail) == (
        "refused",
        True,
    )
    assert "1 steps without a point" in files["cpu.csv"].detail
    assert len(answer(tmp_path / "w", "search_logs", query="user")["rows"]) == 2
    check_conformance(tmp_path / "w")


def test_lines_join_what_the_world_knows(tmp_path: Path):
    """A service's lines go to the workload of that name where there is no such service."""
    (tmp_path / "cart.log").write_text("2026-03-04T10:00:00Z up\n", encoding="utf-8")
    with WorldDraft() as draft:
        known = draft.entity("Deployment", "east/shop/cart", name="cart", cluster="east")
        LOGS.read_into(tmp_path / "cart.log", draft, OPTIONS)
        draft.write(tmp_path / "w")
    assert [row["entity_id"] for row in read_table(tmp_path / "w", "log_template")] == [known]


def test_how_far_a_recording_reaches_is_said(material: Path, tmp_path: Path):
    """Before the first line is no silence but nothing imported; what is imported later says so anew."""
    imported(LOGS, material, tmp_path / "w")
    pod = next(row["id"] for row in read_table(tmp_path / "w", "entity") if row["name"] == "web-1")
    session = WorldInterface().open(str(tmp_path / "w"), 1)
    early = {"since": "2026-03-01T10:00:00Z", "until": "2026-03-01T11:00:00Z"}
    for tool, args in (("search_logs", {"query": "user", **early}),
                       ("query_metrics", {"entity": pod, "since": "2026-03-04T09:00:00Z",
                                          "until": "2026-03-04T10:01:00Z"})):  # fmt: skip
        refused = session.call(tool, args)
        assert refused.is_error
        assert "imported" in refused.text
    assert not session.call("search_logs", {"query": "user"}).is_error
    imported(METRICS, material, tmp_path / "w", base=tmp_path / "w")
    gaps = read_table(tmp_path / "w", "data_gap")
    assert sorted((row["source"], row["note"]) for row in gaps) == [
        ("log", "what was recorded before was not imported"),
        ("metric", "what was recorded before was not imported"),
    ]


def test_importing_twice_gives_the_same_world(material: Path, tmp_path: Path):
    """Nothing depends on when or where an import ran."""
    for name in ("a", "b"):
        with WorldDraft() as draft:
            LOGS.read_into(material, draft, OPTIONS)
            METRICS.read_into(material, draft, OPTIONS)
            digest = draft.write(tmp_path / name)
        (tmp_path / f"{name}.txt").write_text(digest, encoding="utf-8")
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text()


def test_lines_of_a_file_are_taken_once(material: Path, tmp_path: Path):
    """The same files again add no line and are no problem; what is new among them is added."""
    world = tmp_path / "w"
    imported(LOGS, material, world)
    before = answer(world, "search_logs", query="")["rows"]
    again = imported(LOGS, material, world, base=world)
    assert {one.outcome for one in again if one.objects} == set()
    assert "known, skipped" in {one.outcome for one in again}
    assert answer(world, "search_logs", query="")["rows"] == before
    (material / "late.jsonl").write_text(record(9, "web-1", "one more") + "\n", encoding="utf-8")
    imported(LOGS, material, world, base=world)
    after = answer(world, "search_logs", query="")["rows"]
    assert len(after) == len(before) + 1


def test_two_files_that_say_the_same_are_both_read(tmp_path: Path):
    """Replicas may say the same: what is known is a file by its name and bytes."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("web-1.log", "web-2.log"):
        (folder / name).write_text("2026-03-04T10:00:00Z INFO up\n", encoding="utf-8")
    imported(LOGS, folder, tmp_path / "w")
    assert len(answer(tmp_path / "w", "search_logs", query="")["rows"]) == 2


@pytest.mark.parametrize("importer", [LOGS, METRICS], ids=["logs", "metrics"])
def test_a_path_where_there_is_nothing_is_an_error(importer: Importer, tmp_path: Path):
    """What does not exist cannot be imported."""
    with WorldDraft() as draft, pytest.raises(IngestError, match="nothing to import"):
        importer.read_into(tmp_path / "none", draft, OPTIONS)


@pytest.mark.real
@pytest.mark.parametrize(
    ("traffic", "series", "calls"), [("high_traffic", 248, 47), ("low_traffic", 264 + 258, 44)]
)
def test_real_metrics_of_a_pet_shop(tmp_path: Path, traffic: str, series: int, calls: int):
    """Every column that has a value is a series, every edge of the graph a call, no label enters."""
    files = imported(METRICS, real("petshop", traffic), tmp_path / "w")
    outcomes = {one.path.rsplit("/", 1)[-1]: one.outcome for one in files}
    assert outcomes == {"graph.csv": "read", "metrics.csv": "read", "target.json": "no object"}
    assert sum(one.objects for one in files if one.path.endswith("metrics.csv")) == series
    edges = read_table(tmp_path / "w", "edge")
    assert sum(edge["pred"] == "calls" for edge in edges) == calls
    site = next(row for row in read_table(tmp_path / "w", "entity") if row["name"] == "PetSite")
    names = {row["name"] for row in read_table(tmp_path / "w", "metric_series")
             if row["entity_id"] == site["id"]}  # fmt: skip
    assert {"latency_p90", "availability_average", "requests_sum"} <= names
    everything = json.dumps([row for table in ("entity", "fact", "change_event", "alert")
                             for row in read_table(tmp_path / "w", table)])  # fmt: skip
    assert "searchdelay" not in everything
    check_conformance(tmp_path / "w")


@pytest.mark.real
def test_real_logs_of_an_archive(tmp_path: Path):
    """Eleven of twelve log files have times; pods and the node are found by their folders."""
    files = imported(LOGS, real("kubernetes", "insights-archive"), tmp_path / "w")
    read = [one for one in files if one.outcome == "read"]
    assert len(read) == 11
    assert sum(one.path.endswith(".log") for one in files) == 12
    kinds = [row["kind"] for row in read_table(tmp_path / "w", "entity")]
    assert kinds.count("Pod") == 9
    errors = answer(tmp_path / "w", "search_logs", query="AuthenticationError", level="ERROR")
    assert [row["entity_name"] for row in errors["rows"]] == ["oauth-openshift-6c98668d5b-ftt5n"]
    check_conformance(tmp_path / "w")
