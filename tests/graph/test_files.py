"""Worlds on disk: digest, damage, refusals, and disks that are full."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.graph.worlds import (
    NOW,
    SECOND,
    Builder,
    eid,
    small_builder,
    small_logs,
    small_metrics,
    small_world,
)

from heldout.errors import WorldError
from heldout.graph import read_table, verify_world, world_meta, write_world
from heldout.graph.logs import pattern_of
from heldout.graph.schema import TABLES, LogBlock, WorldTables

ROOT = Path(__file__).resolve().parents[2]
_DIGEST = """
import sys
from pathlib import Path
from heldout.graph import write_world
from tests.graph.worlds import small_world
names = {"harbor", "quay", "dock", "mara", "iven"}
print(sorted(names) != list(names), write_world(small_world(), Path(sys.argv[1])))
"""


def _in_process(code: str, *args: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_digest_is_the_same_in_every_process(tmp_path: Path):
    """Two processes with different hash seeds write worlds of one digest."""
    found = [_in_process(_DIGEST, str(tmp_path / seed), seed=seed) for seed in ("1", "2")]
    assert [one.returncode for one in found] == [0, 0], found[0].stderr + found[1].stderr
    digests = {one.stdout.split()[1] for one in found}
    assert digests == {world_meta(tmp_path / "1").digest}


def test_the_digest_does_not_depend_on_the_order_of_rows(tmp_path: Path):
    """Rows are stored in an order of their own, so that theirs cannot tell anything."""
    tables = small_world()
    shuffled = {
        name: {column: list(values)[::-1] for column, values in columns.items()}
        for name, columns in tables.columns.items()
    }
    first = write_world(tables, tmp_path / "a")
    assert write_world(replace(tables, columns=shuffled), tmp_path / "b") == first


@pytest.mark.parametrize("table", [name for name in TABLES if name not in ("log_template",)])
def test_every_table_counts_in_the_digest(tmp_path: Path, table: str):
    """Changing one value anywhere changes the digest."""
    before = write_world(small_world(), tmp_path / "a")
    build = small_builder()
    logs, metrics = small_logs(), small_metrics()
    if table == "log":
        build.lines.append((NOW, eid(1), "INFO", "one more"))
    elif table == "metric_chunk":
        metrics = replace(metrics, t0=metrics.t0 + SECOND)
    elif table == "metric_value":
        metrics.values[0, 0] = 0.5
    else:
        row = build.rows[table][0]
        texts = {"entity": "external_id", "edge": "source", "change_target": "entity_id"}
        column = texts.get(table) or {
            "fact": "observed_at", "change_event": "summary", "change_diff": "new_json",
            "metric_series": "unit", "alert": "text", "data_gap": "note",
        }[table]  # fmt: skip
        row[column] = {
            "edge": "k8s",
            "fact": row.get("observed_at", 0) + 1,
            "change_diff": '"x"',
            "change_target": eid(5),
        }.get(table, "other")
    assert write_world(build.tables(logs=(logs,), metrics=(metrics,)), tmp_path / "b") != before


@pytest.mark.parametrize(("many", "size"), [(1, 1), (1, 100), (1, 1 << 20)])
def test_the_digest_does_not_depend_on_how_much_is_in_memory_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int, size: int
):
    """Large tables are read column by column and part by part, small ones as a whole: one digest."""
    whole = write_world(small_world(), tmp_path / "a")
    monkeypatch.setattr("heldout.graph.digest._MANY", many)
    monkeypatch.setattr("heldout.graph.digest._TEXT_BYTES", size)
    assert write_world(small_world(), tmp_path / "b") == whole


def test_meta_and_times_count_in_the_digest(tmp_path: Path):
    """Two worlds with equal rows but another now are two worlds."""
    tables = small_world()
    digests = {
        write_world(one, tmp_path / "w")
        for one in (
            tables,
            replace(tables, meta={"a": "b"}),
            replace(tables, start=tables.start + 1),
        )
    }
    assert len(digests) == 3


def test_a_written_world_verifies_and_reads_back(tmp_path: Path):
    """What was written is read back; the deep check agrees."""
    digest = write_world(small_world(), tmp_path / "w")
    verify_world(tmp_path / "w", digest)
    verify_world(tmp_path / "w", digest, deep=True)
    meta = world_meta(tmp_path / "w")
    assert (meta.now, meta.meta, meta.digest) == (NOW, {"made_by": "hand"}, digest)
    assert meta.counts["log"] == len(read_table(tmp_path / "w", "log")) == 414
    assert [row["id"] for row in read_table(tmp_path / "w", "log")] == list(range(1, 415))


@pytest.mark.parametrize("damage", ["missing", "altered", "manifest", "garbled", "other"])
def test_damage_is_found(tmp_path: Path, damage: str):
    """A missing or altered file, a broken manifest or another digest is a named error."""
    digest = write_world(small_world(), tmp_path / "w")
    verify_world(tmp_path / "w", digest)
    victim = tmp_path / "w" / "change_diff.parquet"
    if damage == "missing":
        victim.unlink()
    elif damage == "altered":
        raw = bytearray(victim.read_bytes())
        raw[40] ^= 1
        victim.write_bytes(raw)
    elif damage == "manifest":
        (tmp_path / "w" / "manifest.json").unlink()
    elif damage == "garbled":
        (tmp_path / "w" / "manifest.json").write_text('{"files": 3')
    else:
        digest = "0" * 64
    with pytest.raises(WorldError) as caught:
        verify_world(tmp_path / "w", digest)
    assert str(tmp_path / "w") in str(caught.value)
    assert "heldout build" in str(caught.value)


def test_rows_swapped_together_with_their_manifest_are_found_by_the_deep_check(tmp_path: Path):
    """Who also forges the manifest's file hashes is found by reading the rows."""
    digest = write_world(small_world(), tmp_path / "w")
    other = small_builder()
    other.rows["change_diff"][0]["new_json"] = "99"
    write_world(other.tables(logs=(small_logs(),), metrics=(small_metrics(),)), tmp_path / "x")
    forged = json.loads((tmp_path / "x" / "manifest.json").read_text())
    forged["digest"] = digest
    (tmp_path / "x" / "manifest.json").write_text(json.dumps(forged))
    verify_world(tmp_path / "x", digest)
    with pytest.raises(WorldError, match="rows of the world"):
        verify_world(tmp_path / "x", digest, deep=True)


def _broken(change: str) -> WorldTables:
    build = small_builder()
    rows: dict[str, list[dict[str, Any]]] = build.rows
    if change == "kind":
        rows["entity"][0]["kind"] = "Servce"
    elif change == "predicate":
        rows["edge"][0]["pred"] = "phones"
    elif change == "signature":
        build.edge(7, "calls", 1)
    elif change == "dangling":
        rows["edge"][0]["dst"] = "e-99999999"
    elif change == "json":
        rows["fact"][0]["value_json"] = "{"
    elif change == "id":
        rows["entity"][0]["id"] = "entity one"
    elif change == "twice":
        rows["change_event"][1]["id"] = rows["change_event"][0]["id"]
    elif change == "type":
        rows["change_event"][0]["type"] = "sabotage"
    elif change == "provenance":
        rows["fact"][0]["provenance"] = "model"
    elif change == "alert":
        rows["alert"][0]["ts"] = NOW + 1
    elif change == "number":
        rows["change_event"][0]["ts"] = "noon"
    return build.tables()


@pytest.mark.parametrize(
    "change",
    [
        "kind",
        "predicate",
        "signature",
        "dangling",
        "json",
        "id",
        "twice",
        "type",
        "provenance",
        "alert",
        "number",
    ],
)
def test_a_world_outside_the_ontology_is_refused_and_leaves_nothing(tmp_path: Path, change: str):
    """What breaks a rule is a WorldError before anything is on disk."""
    with pytest.raises(WorldError):
        write_world(_broken(change), tmp_path / "w")
    assert list(tmp_path.iterdir()) == []


def test_unknown_tables_and_columns_are_refused(tmp_path: Path):
    """A misspelt table or column is not dropped in silence."""
    tables = small_world()
    for columns in (
        {**tables.columns, "fcat": {}},
        {**tables.columns, "log": {}},
        {**tables.columns, "alert": {"id": []}},
        {**tables.columns, "alert": {**tables.columns["alert"], "id": ["a-00000001"]}},
    ):
        with pytest.raises(WorldError):
            write_world(replace(tables, columns=columns), tmp_path / "w")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path):
    """When the disk takes no more, the error is named and no part of the world stays."""
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from heldout.errors import WorldError\n"
        "from heldout.graph import write_world\n"
        "from tests.graph.worlds import small_world\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try:\n"
        "    write_world(small_world(), Path(sys.argv[1]))\n"
        "except WorldError as error:\n"
        "    print('refused', error)\n"
    )
    done = _in_process(code, str(tmp_path / "w"))
    assert done.stdout.startswith("refused"), done.stderr
    assert "could not be written" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_world_is_replaced_whole(tmp_path: Path):
    """Writing again over a world leaves the new one and no remains."""
    write_world(small_world(), tmp_path / "w")
    digest = write_world(replace(small_world(), meta={"turn": "2"}), tmp_path / "w")
    verify_world(tmp_path / "w", digest)
    assert [path.name for path in tmp_path.iterdir()] == ["w"]


def test_worlds_are_written_and_read_side_by_side_in_one_process(tmp_path: Path):
    """Threads that write, verify and read worlds at once see nothing of each other."""

    def work(number: int) -> tuple[str, str, int]:
        place = tmp_path / f"w{number}"
        tables = replace(small_world(), meta={"turn": str(number)})
        digest = write_world(tables, place)
        verify_world(place, digest, deep=True)
        return digest, world_meta(place).meta["turn"], len(read_table(place, "change_event"))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(16)))
    assert len({digest for digest, _, _ in found}) == 16
    assert [turn for _, turn, _ in found] == [str(number) for number in range(16)]
    assert len({count for _, _, count in found}) == 1


def test_log_blocks_are_rendered_like_python_would(tmp_path: Path):
    """Holes are filled in any order and number; braces that are no holes stay."""
    build = Builder()
    build.entity(1, "Service", "a")
    templates = ["{0} then {1}", "{1} then {0}", "{1} only", "none {2} {}", "{0}{1}{0}", "{0}"]
    count = len(templates)
    block = LogBlock(
        ts=np.arange(count, dtype=np.int64) * SECOND,
        template=np.arange(count, dtype=np.int32),
        arg0=np.arange(count, dtype=np.int64) + 10,
        arg1=np.arange(count, dtype=np.int64) + 20,
        templates=templates,
        template_entity=[eid(1)] * count,
        template_level=["INFO"] * count,
    )
    write_world(build.tables(logs=(block,)), tmp_path / "w")
    assert [row["msg"] for row in read_table(tmp_path / "w", "log")] == [
        "10 then 20", "21 then 11", "22 only", "none {2} {}", "142414", "15",
    ]  # fmt: skip


def test_a_block_and_a_line_of_the_same_form_share_a_pattern(tmp_path: Path):
    """Nothing in the stored templates tells a rendered line from a single one."""
    build = Builder()
    build.entity(1, "Service", "a")
    build.lines.append((SECOND * 9, eid(1), "INFO", "served order 17 in 3 ms"))
    block = replace(
        small_logs(),
        template=np.zeros(400, dtype=np.int32),
        template_entity=[eid(1)] * 3,
    )
    write_world(build.tables(logs=(block,)), tmp_path / "w")
    assert {row["template_id"] for row in read_table(tmp_path / "w", "log")} == {2}


@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        ("took 31 ms for order 88", "took <*> ms for order <*>"),
        ("pool exhausted: max_size=12 all in use", "pool exhausted: max_size=<*> all in use"),
        ("call to quay-2 failed after 800ms", "call to quay-2 failed after <*>"),
        ("peer 10.0.3.7:5432 reset", "peer <*> reset"),
        ("trace 0af7651916cd43dd8448eb211c80319c", "trace <*>"),
        ("defaced facade", "defaced facade"),
        ("at 2026-03-04T12:00:00Z", "at <*>"),
    ],
)
def test_patterns_mask_what_varies_and_keep_names(message: str, pattern: str):
    """Numbers, addresses and ids are masked; a digit inside a name is part of the name."""
    assert pattern_of(message) == pattern


def test_metric_values_survive_to_three_digits(tmp_path: Path):
    """Rounding for size keeps three significant digits, infinities, and gaps as NULL."""
    tables = small_world()
    block = replace(
        tables.metrics[0],
        series_ids=["m-00000001"],
        values=np.array([[0.0123456, 1234.56, np.nan, -7.25, 0.0, np.inf]], dtype=np.float32),
    )
    write_world(replace(tables, metrics=(block,)), tmp_path / "w")
    values = [row["v"] for row in read_table(tmp_path / "w", "metric_value")]
    chunk = {"series_id": "m-00000001", "t0": block.t0, "step_s": 300, "first": 0, "points": 6}
    assert read_table(tmp_path / "w", "metric_chunk") == [chunk]
    assert values[0] == pytest.approx(0.0123456, rel=5e-4)
    assert values[1] == pytest.approx(1234.56, rel=5e-4)
    assert values[2] is None
    assert values[3:] == [-7.25, 0.0, float("inf")]
