"""Sessions: cursors, caps, time, isolation, threads, and how an investigation ends."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.graph.conformance import ask, every_row
from tests.graph.worlds import NOW, SECOND, cid, eid, small_builder, small_world

from heldout.errors import WorldError
from heldout.graph import WorldInterface, WorldSession, write_world
from heldout.graph.world import World, WorldCache

T_NOW, T_DAY, T_START = "2026-03-04T12:00:00Z", "2026-03-04", "2026-02-25T12:00:00Z"


def error(session: WorldSession, tool: str, **args: Any) -> dict[str, Any]:
    """The error of a call that must fail."""
    answer = session.call(tool, args)
    assert answer.is_error, answer.text
    found: dict[str, Any] = json.loads(answer.text)["error"]
    return found


def test_a_cursor_belongs_to_its_query(session: WorldSession):
    """Page size may change between pages, nothing else; a foreign cursor is refused."""
    first = ask(session, "list_changes", since=T_START, until=T_NOW, limit=5)
    second = ask(
        session, "list_changes", since=T_START, until=T_NOW, limit=9, cursor=first["cursor"]
    )
    whole = ask(session, "list_changes", since=T_START, until=T_NOW, limit=14)
    assert first["rows"] + second["rows"] == whole["rows"]
    for cursor in ("zzz", "5-00000000"):
        assert (
            error(session, "list_changes", since=T_START, until=T_NOW, cursor=cursor)["type"]
            == "bad_argument"
        )
    assert (
        error(session, "list_changes", since=T_DAY, until=T_NOW, cursor=first["cursor"])["type"]
        == "bad_argument"
    )


def test_long_answers_are_cut_and_nothing_is_lost(tmp_path: Path):
    """Rows, an entity's fields and a change's diffs go on behind the cursor."""
    build = small_builder()
    for number in range(120):
        build.fact(2, f"field.{number:03}", f"{number} " + "v" * 300)
    diffs = [(2, f"field.{number:03}", "a" * 200, "b" * 5_000) for number in range(120)]
    build.change(900, NOW - SECOND, "iac_apply", "mara", diffs)
    build.lines += [
        (NOW - SECOND, eid(6), "INFO", f"{number} " + "w" * 4_000) for number in range(40)
    ]
    write_world(build.tables(), tmp_path / "w")
    session = WorldInterface().open(str(tmp_path / "w"), 1)
    fields: dict[str, Any] = {}
    for row in every_row(session, "get_entity", id=eid(2)):
        assert not fields.keys() & row["fields"].keys()
        fields |= row["fields"]
    assert len(fields) == 120
    shown = [
        diff["field"]
        for row in every_row(session, "get_change", id=cid(900))
        for diff in row["diffs"]
    ]
    assert shown == [f"field.{number:03}" for number in range(120)]
    lines = every_row(session, "search_logs", query="www")
    assert len({row["id"] for row in lines}) == 40


def test_a_runaway_query_is_interrupted(small_dir: Path, monkeypatch: pytest.MonkeyPatch):
    """A query over its time is a typed error and the session goes on."""
    session = WorldSession(World(small_dir), timeout_seconds=0.2)
    backend = session._backend

    def runaway(args: Any) -> Any:
        return backend._reader.rows(
            "select sum(sqrt(a.range * b.range)) from range(9000000) a, range(9000000) b"
        )

    monkeypatch.setattr(backend.__class__, "list_alerts", lambda self, args: runaway(args))
    assert error(session, "list_alerts", since=T_DAY, until=T_NOW)["type"] == "timeout"
    monkeypatch.undo()
    assert ask(session, "list_alerts", since=T_DAY, until=T_NOW)["rows"]


def test_a_loaded_world_can_read_no_file_and_keeps_its_settings(small_dir: Path):
    """Even SQL of an agent's choosing could reach nothing outside the world."""
    world = World(small_dir)
    world.tables.need("select from log")
    cursor = world.cursor()
    for sql in (
        f"select * from read_parquet('{small_dir}/log.parquet')",
        "select * from read_csv('/etc/hostname')",
        "copy log to '/tmp/heldout_leak.csv'",
        "set enable_external_access = true",
        "set threads = 8",
        "attach '/tmp/heldout_leak.db'",
        "install httpfs",
    ):
        with pytest.raises(duckdb.Error):
            cursor.execute(sql)
    assert cursor.execute("select count(*) from log").fetchone() == (414,)


def test_sessions_in_many_threads_get_the_same_answers(small_dir: Path):
    """One world serves many sessions at once, each on a cursor of its own."""
    interface = WorldInterface()
    answers: list[str] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            session = interface.open(str(small_dir), 1)
            for _ in range(5):
                answers.append(session.call("search_logs", {"query": "quay"}).text)
                answers.append(
                    session.call("list_changes", {"since": T_START, "until": T_NOW}).text
                )
            session.close()
        except Exception as problem:  # noqa: BLE001 (carried to the assertion)
            failures.append(problem)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(answers) == 120
    assert len(set(answers)) == 2


def test_the_cache_holds_few_worlds_and_notices_a_rebuilt_one(tmp_path: Path):
    """The least used world goes; a folder written anew is loaded anew."""
    for name in ("a", "b", "c"):
        write_world(replace(small_world(), meta={"name": name}), tmp_path / name)
    cache = WorldCache(2)
    first = cache.get(tmp_path / "a")
    assert cache.get(tmp_path / "a") is first
    cache.get(tmp_path / "b")
    cache.get(tmp_path / "c")
    again = cache.get(tmp_path / "a")
    assert again is not first
    write_world(replace(small_world(), meta={"name": "a2"}), tmp_path / "a")
    assert cache.get(tmp_path / "a") is not again


def test_a_folder_that_is_no_world_is_a_named_error(tmp_path: Path):
    """Opening nothing, or a damaged world, says what and where."""
    interface = WorldInterface()
    with pytest.raises(WorldError, match="no manifest"):
        interface.open(str(tmp_path / "none"), 1)
    write_world(small_world(), tmp_path / "w")
    (tmp_path / "w" / "log.parquet").write_bytes(b"PAR1")
    with pytest.raises(WorldError, match=r"log\.parquet"):
        interface.open(str(tmp_path / "w"), 1)


@pytest.mark.parametrize(
    ("given", "entity", "change"),
    [
        ({"root_cause_entity": eid(4), "root_cause_change": cid(1)}, eid(4), cid(1)),
        (
            {"root_cause_entity": f" {eid(4)} (quay-settings)", "root_cause_change": "None."},
            eid(4),
            None,
        ),
        ({"root_cause_entity": [eid(4)], "root_cause_change": None}, eid(4), None),
        ({"root_cause_entity": "quay-settings", "root_cause_change": ""}, "quay-settings", None),
    ],
)
def test_submissions_are_read_leniently(
    session: WorldSession, given: dict[str, Any], entity: str, change: str | None
):
    """Ids with names around them, lists of one, and words for nothing are understood."""
    rest = {
        "mechanism": "pool too small",
        "evidence_ids": f"l-401, {cid(1)}",
        "ruled_out": [{"id": cid(2)}],
        "affected": "harbor-api, quay-core",
        "unavailable_sources": ["none"],
    }
    answer = session.call("submit_diagnosis", {**given, **rest})
    assert answer.final, answer.text
    submission = session.finish()
    assert submission is not None
    assert (submission.root_cause_entity, submission.root_cause_change) == (entity, change)
    assert submission.evidence_ids == ("l-401", cid(1))
    assert submission.ruled_out == (cid(2),)
    assert submission.affected == ("harbor-api", "quay-core")
    assert submission.unavailable_sources == ()
    assert error(session, "search_logs", query="x")["type"] == "unavailable"


def test_a_submission_that_hedges_is_refused_and_can_be_mended(session: WorldSession):
    """Two root causes are asked to be one; nothing is taken as submitted."""
    base = {"root_cause_change": "none", "mechanism": "x"}
    assert (
        error(session, "submit_diagnosis", root_cause_entity=f"{eid(1)} or {eid(2)}", **base)[
            "type"
        ]
        == "bad_argument"
    )
    assert (
        error(session, "submit_diagnosis", root_cause_entity=eid(1), because="x", **base)["type"]
        == "unknown_argument"
    )
    assert session.finish() is None
    assert session.call("submit_diagnosis", {"root_cause_entity": eid(1), **base}).final


def test_a_misspelt_argument_of_a_submission_is_read(session: WorldSession):
    """A small model writes ``rule_out`` twice in a row; its answer is not lost over it."""
    given = {"root_cause_entity": eid(1), "root_cause_change": "none", "mechanism": "x"}
    assert session.call("submit_diagnosis", {**given, "rule_out": ["quay-core"]}).final
    made = session.finish()
    assert made is not None
    assert made.ruled_out == ("quay-core",)


def test_what_an_entity_is_called_in_another_tool_is_read(session: WorldSession):
    """``get_entity`` has ``id``, ``query_metrics`` has ``entity``; both together are refused."""
    assert ask(session, "get_entity", entity=eid(1)) == ask(session, "get_entity", id=eid(1))
    assert error(session, "get_entity", id=eid(1), entity=eid(1))["type"] == "unknown_argument"
    assert error(session, "get_entity", name=eid(1))["type"] == "unknown_argument"
