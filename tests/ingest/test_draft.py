"""Drafting a world from material: what joins, what holds when, what is left where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.conformance import ask, check_conformance
from tests.ingest.manifests import SHOP, write

from heldout.errors import IngestError, UsageError, WorldError
from heldout.graph import WorldInterface, read_table, world_meta
from heldout.graph.schema import OPEN_END
from heldout.ingest.draft import HISTORY, WorldDraft
from heldout.ingest.importer import ImportOptions, importer, importers
from heldout.ingest.reading import FileRecord
from heldout.ingest.report import Report
from heldout.pipeline.ingesting import Ingest, ingest, moment_of

NOW = 1_772_625_600_000_000
HOUR = 3_600_000_000


def drafted() -> WorldDraft:
    """A draft with a workload in its namespace."""
    draft = WorldDraft(name="harbour")
    crane = draft.entity(
        "Deployment", "port/dock/crane", name="crane", cluster="port", facts={"namespace": "dock"}
    )
    draft.edge(crane, "part_of", draft.entity("Namespace", "port/dock", cluster="port"))
    return draft


def values(folder: Path, field: str) -> list[tuple[str, int, int]]:
    """What a world says of a field, by time."""
    rows = [row for row in read_table(folder, "fact") if row["field"] == field]
    found = [(json.loads(row["value_json"]), row["valid_from"], row["valid_to"]) for row in rows]
    return sorted(found, key=lambda one: one[1])


def test_an_entity_is_found_again_by_what_it_is_called(tmp_path: Path):
    """Kind, external id and cluster make one entity, in one draft and in a later one."""
    with drafted() as draft:
        first = draft.entity("Deployment", "port/dock/crane", cluster="port")
        assert draft.find(kind="Deployment", name="crane") == [first]
        assert draft.find(external_id="port/dock/crane", cluster="elsewhere") == []
        assert draft.entity("Deployment", "port/dock/crane", cluster="other") != first
        draft.write(tmp_path / "w", now=NOW)
    with WorldDraft(base=tmp_path / "w") as again:
        assert again.entity("Deployment", "port/dock/crane", cluster="port") == first
        assert again.namespace(first) == "dock"


def test_writing_a_world_again_changes_nothing(tmp_path: Path):
    """A world that is opened and written with nothing added has the same digest."""
    with drafted() as draft:
        crane = draft.find(name="crane")[0]
        draft.fact(crane, "image", "crane:1")
        draft.fact(crane, "image", "crane:2", since=NOW - HOUR)
        draft.change("roll", NOW - HOUR, "deploy", source="k8s", summary="Roll",
                     diffs=[(crane, "image", "crane:1", "crane:2")])  # fmt: skip
        draft.log_lines([(NOW - 5, crane, "INFO", "lifted 7 boxes")])
        draft.series(crane, "cpu", "cores", NOW - HOUR, 60, np.array([1, np.nan, 2], dtype="f4"))
        draft.alert("a", NOW - 9, "CraneDown", entity=crane, severity="critical")
        draft.gap("k8s", "", NOW - 2 * HOUR, NOW - HOUR, "the recorder was off")
        digest = draft.write(tmp_path / "w", now=NOW)
    with WorldDraft(base=tmp_path / "w") as again:
        assert again.write(tmp_path / "again", now=NOW) == digest


def test_later_values_end_earlier_ones(tmp_path: Path):
    """What one source says of a field is one line of values, each until the next."""
    with drafted() as draft:
        crane = draft.find(name="crane")[0]
        draft.fact(crane, "image", "crane:3", since=NOW - HOUR)
        draft.fact(crane, "image", "crane:1")
        draft.fact(crane, "image", "crane:2", since=NOW - 2 * HOUR)
        assert draft.value(crane, "image") == "crane:3"
        draft.write(tmp_path / "w", now=NOW)
    start = NOW - HISTORY
    assert values(tmp_path / "w", "image") == [
        ("crane:1", start, NOW - 2 * HOUR),
        ("crane:2", NOW - 2 * HOUR, NOW - HOUR),
        ("crane:3", NOW - HOUR, OPEN_END),
    ]


def test_both_sides_of_a_field_are_kept(tmp_path: Path):
    """What is declared and what is observed stand beside each other: they may differ."""
    with drafted() as draft:
        crane = draft.find(name="crane")[0]
        draft.fact(crane, "replicas", 3, provenance="declared", source="iac")
        draft.fact(crane, "replicas", 1, provenance="observed")
        assert draft.value(crane, "replicas") == 1
        draft.write(tmp_path / "w", now=NOW)
    assert {one[0] for one in values(tmp_path / "w", "replicas")} == {1, 3}


def test_what_the_world_cannot_say_is_counted():
    """An edge that the ontology does not know is left out and said so; an unknown kind is kept."""
    with drafted() as draft:
        crane = draft.find(name="crane")[0]
        tug = draft.entity("Tugboat", "port/dock/tug", cluster="port")
        draft.edge(tug, "calls", crane)
        assert draft.kind(tug) == "CustomResource"
        assert draft.value(tug, "kind") == "Tugboat"
        assert draft.report.left_out == {"CustomResource calls Deployment": 1}
        assert draft.report.unknown_kinds == {"Tugboat": 1}
        with pytest.raises(IngestError, match="left out"):
            draft.report.require_whole()


def test_secrets_are_replaced_wherever_they_come_in(tmp_path: Path):
    """A secret in a fact, a change, an alert or a line has one placeholder everywhere."""
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    with drafted() as draft:
        crane = draft.find(name="crane")[0]
        draft.fact(crane, "args", ["--key", secret])
        draft.change("k", NOW - 1, "config", source="k8s", summary=f"uses {secret}",
                     diffs=[(crane, "args", "", f"--key {secret}")])  # fmt: skip
        draft.alert("a", NOW - 1, "Rule", text=f"key {secret}")
        draft.log_lines([(NOW - 1, crane, "INFO", f"with {secret}")])
        draft.write(tmp_path / "w", now=NOW)
        assert draft.report.redacted >= 4
    said = "".join(
        json.dumps(read_table(tmp_path / "w", table))
        for table in ("fact", "change_event", "change_diff", "alert", "log")
    )
    assert secret not in said
    assert said.count("redacted-0001") >= 5


def test_a_second_import_gives_no_secret_the_number_of_another(tmp_path: Path):
    """Placeholders of one world are never those of two secrets; without that they would join."""
    one, two = ("AKIA" + letter * 16 for letter in "BC")
    with drafted() as draft:
        draft.fact(draft.find(name="crane")[0], "key", one)
        draft.write(tmp_path / "w", now=NOW)
    with WorldDraft(base=tmp_path / "w") as again:
        crane = again.find(name="crane")[0]
        again.fact(crane, "other", two)
        assert again.value(crane, "key") == "redacted-0001"
        assert again.value(crane, "other") == "redacted-0002"


def test_two_changes_with_one_short_id_are_both_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Where the digests of two keys begin alike, the second gets another id; told again, its own."""
    monkeypatch.setattr("heldout.ingest.draft.hashlib", SimpleNamespace(sha256=_short))
    with drafted() as draft:
        crane = draft.find(name="crane")[0]
        ids = [
            draft.change(key, NOW - at, "config", source="k8s", summary=key, targets=[crane])
            for key, at in (("first", 2), ("second", 1), ("first", 2))
        ]
        assert ids[0] == ids[2] != ids[1]
        draft.write(tmp_path / "w", now=NOW)
    assert len(read_table(tmp_path / "w", "change_event")) == 2
    with WorldDraft(base=tmp_path / "w") as again:
        told = again.change("second", NOW - 1, "config", source="k8s", summary="second")
        assert told == ids[1]


def _short(text: bytes) -> Any:
    """A digest that knows two values only, by the salt that the text begins with."""
    salt = int(text.split(bytes([0x1F]))[0])
    return SimpleNamespace(hexdigest=lambda: f"{salt:08x}" + "0" * 56)


def test_a_world_that_cannot_be_written_leaves_the_one_before(tmp_path: Path):
    """An import that breaks in the end changes nothing of the world that is there."""
    with drafted() as draft:
        digest = draft.write(tmp_path / "w", now=NOW)
    with WorldDraft(base=tmp_path / "w") as again:
        crane = again.find(name="crane")[0]
        again.change("k", NOW, "no such type", source="k8s", summary="x", targets=[crane])
        with pytest.raises(WorldError, match="no such type"):
            again.write(tmp_path / "w", now=NOW)
    assert world_meta(tmp_path / "w").digest == digest
    assert [one.name for one in tmp_path.iterdir()] == ["w"]


def test_an_altered_world_is_not_added_to(tmp_path: Path):
    """A world with a file that was changed is refused, not mixed with what is new."""
    with drafted() as draft:
        draft.write(tmp_path / "w", now=NOW)
    (tmp_path / "w" / "entity.parquet").write_bytes(b"other")
    with pytest.raises(WorldError):
        WorldDraft(base=tmp_path / "w")


def test_kinds_of_material_join_in_one_world(tmp_path: Path):
    """Manifests and then logs give one world, in which the log is the pod's; the tools serve it."""
    write(tmp_path / "in", "a.yaml", SHOP)
    log = tmp_path / "logs" / "berth.log"
    log.parent.mkdir()
    line = {"time": "2026-03-04T11:59:00Z", "level": "error", "msg": "no berth is free",
            "kubernetes": {"namespace_name": "dock", "labels": {"app": "berth"}}}  # fmt: skip
    log.write_text(json.dumps(line) + "\n", encoding="utf-8")
    world = tmp_path / "w"
    options = ImportOptions(cluster="port", now=NOW)
    first = ingest(Ingest("kubernetes", tmp_path / "in", str(world)), options)
    assert "written as world" in first
    second = ingest(Ingest("logs", tmp_path / "logs", str(world)), options)
    assert "added to world" in second
    session = WorldInterface().open(str(world), 1)
    assert "no berth is free" in json.dumps(ask(session, "search_logs", query="berth")["rows"])
    session.close()
    check_conformance(world)


def test_strict_writes_nothing(tmp_path: Path):
    """With --strict one file that cannot be read is an error, and there is no world; without, one."""
    write(tmp_path / "in", "a.yaml", SHOP)
    write(tmp_path / "in", "b.yaml", "a: [1")
    world = tmp_path / "w"
    with pytest.raises(IngestError, match=r"b\.yaml"):
        ingest(Ingest("kubernetes", tmp_path / "in", str(world)), ImportOptions(strict=True))
    assert not world.exists()
    ingest(Ingest("kubernetes", tmp_path / "in", str(world)), ImportOptions())
    assert world.exists()


def test_nothing_to_import_is_said(tmp_path: Path):
    """A folder without an object, an unknown kind and a path that is not there are named errors."""
    (tmp_path / "in").mkdir()
    with pytest.raises(IngestError, match="no object was found"):
        ingest(Ingest("kubernetes", tmp_path / "in", str(tmp_path / "w")), ImportOptions())
    with pytest.raises(UsageError, match=r"nothing reads 'spells'.*kubernetes"):
        importer("spells")
    with pytest.raises(IngestError, match="nothing is there"):
        ingest(Ingest("kubernetes", tmp_path / "gone"), ImportOptions())
    with pytest.raises(UsageError, match="is no moment"):
        moment_of("yesterday")


def test_the_help_names_every_kind():
    """What the command's help lists is what can be read, each with a sentence of its own."""
    from heldout.cli.ingest import KINDS

    found = importers()
    assert ", ".join(found) == KINDS
    assert all(one.reads and not one.reads.endswith(".") for one in found.values())


def test_a_long_report_is_cut_and_says_so():
    """Problems beyond the first forty are counted in text and all there as JSON."""
    report = Report()
    for number in range(60):
        report.file(FileRecord(f"f{number}.yaml", "unreadable, skipped", 0, "is not UTF-8 text"))
    assert any("and 20 more" in line for line in report.lines())
    assert len(report.plain()["files"]) == 60


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)


@settings(deadline=None, max_examples=8)
@given(
    things=st.lists(st.tuples(st.sampled_from(["Pod", "Tugboat", "Node"]), names, names)),
    moments=st.lists(st.integers(NOW - 90 * 24 * HOUR, NOW + HOUR), max_size=6),
)
def test_any_names_and_moments_make_a_world_that_can_be_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    things: list[tuple[str, str, str]],
    moments: list[int],
):
    """Whatever things are called and whenever values began, the world is whole and stable."""
    folder = tmp_path_factory.mktemp("any")
    with drafted() as draft:
        crane = draft.find(name="crane")[0]
        for kind, external, name in things:
            draft.fact(draft.entity(kind, external or "x", name=name or "x"), "note", name)
        for at in moments:
            draft.fact(crane, "image", f"crane:{at}", since=at)
        digest = draft.write(folder / "w")
    with WorldDraft(base=folder / "w") as again:
        assert again.write(folder / "again") == digest
