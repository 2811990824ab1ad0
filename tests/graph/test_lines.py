"""Log lines of a world larger than what is read of it at once."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.graph.conformance import ask
from tests.graph.worlds import DAY, NOW, Builder, eid, small_world

from heldout.errors import WorldError
from heldout.graph import WorldInterface, WorldSession, write_world
from heldout.graph.database import lease
from heldout.graph.schema import LogBlock
from heldout.graph.world import World

LINES = 60_000
SINCE = "2026-03-03T12:00:00Z"


def write_log(directory: Path, word: str = "route") -> LogBlock:
    """A world of two services with many lines, and its lines."""
    rng = np.random.Generator(np.random.PCG64(11))
    build = Builder()
    build.entity(1, "Service", "ferry")
    build.entity(2, "Service", "quay")
    block = LogBlock(
        ts=np.sort(rng.integers(NOW - DAY, NOW, LINES)),
        template=rng.integers(0, 40, LINES).astype(np.int32),
        arg0=rng.integers(0, 10**9, LINES),
        arg1=rng.integers(1, 5_000, LINES),
        templates=[f"{word} {number} served {{0}} in {{1}} ms" for number in range(40)],
        template_entity=[eid(1 + number % 2) for number in range(40)],
        template_level=[("INFO", "ERROR")[number % 3 == 0] for number in range(40)],
    )
    write_world(build.tables(logs=(block,)), directory)
    return block


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LogBlock]:
    """The folder of such a world, not to be altered, and its lines."""
    directory = tmp_path_factory.mktemp("lines") / "w"
    return directory, write_log(directory)


def session_of(directory: Path) -> WorldSession:
    """A session over a world that nobody has asked anything yet."""
    return WorldInterface().open(str(directory), 1)


def newest(chosen: np.ndarray, count: int = 20) -> list[str]:
    """The ids of the last chosen lines."""
    return [f"l-{row + 1}" for row in np.flatnonzero(chosen)[::-1][:count]]


def test_lines_of_some_patterns_come_newest_first(log: tuple[Path, LogBlock]):
    """However many lines lie between, those of an entity and level are the latest, in order."""
    directory, block = log
    own = (block.template % 2 == 1) & (block.template % 3 == 0)
    found = ask(session_of(directory), "search_logs", query="served", entity=eid(2), level="ERROR")
    assert [row["id"] for row in found["rows"]] == newest(own)
    assert found["total_estimate"] == int(own.sum())


def test_what_is_read_so_far_changes_no_answer(log: tuple[Path, LogBlock]):
    """The last lines, then all of them, then a part: each answer is that of a fresh session."""
    directory, block = log
    session = session_of(directory)
    questions = (
        {"query": "route 7 ", "since": "2026-03-04T11:30:00Z"},
        {"query": "route 7 ", "until": "2026-03-03T13:00:00Z"},
        {"query": "route 7 "},
        {"query": "ROUTE 1[0-9] .* in 4[0-9]{3} ms", "mode": "regex"},
        {"query": "", "until": "2026-03-03T12:30:00Z", "limit": 50},
    )
    for question in questions:
        assert ask(session, "search_logs", **question) == ask(
            session_of(directory), "search_logs", **question
        )
    seven = block.template == 7
    assert [row["id"] for row in ask(session, "search_logs", query="route 7 ")["rows"]] == newest(
        seven
    )


def test_lines_put_there_in_slices_are_found_as_at_once(
    log: tuple[Path, LogBlock], monkeypatch: pytest.MonkeyPatch
):
    """However many lines are read at a time, a search over all of them finds the same."""
    search = {"query": "route 7 ", "since": SINCE, "limit": 50}
    once = ask(session_of(log[0]), "search_logs", **search)
    monkeypatch.setattr("heldout.graph.tables._SLICE", 7_001)
    assert ask(session_of(log[0]), "search_logs", **search) == once
    assert once["total_estimate"] > 1_000


def test_patterns_are_counted_with_their_last_line(log: tuple[Path, LogBlock]):
    """Counts of window and baseline, and the example, are those of the lines themselves."""
    directory, block = log
    found = ask(
        session_of(directory),
        "log_patterns",
        since="2026-03-04T10:00:00Z",
        until="2026-03-04T10:59:59.999999Z",
    )
    hour = 3_600_000_000
    inside = (block.ts >= NOW - 2 * hour) & (block.ts < NOW - hour)
    before = (block.ts >= NOW - 3 * hour) & (block.ts < NOW - 2 * hour)
    assert len(found["rows"]) == 4
    for row in found["rows"]:
        own = block.template % 2 == (row["entity"] == eid(2))
        own &= (block.template % 3 == 0) == (row["level"] == "ERROR")
        assert row["count"] == int((inside & own).sum())
        assert row["baseline_count"] == int((before & own).sum())
        assert [row["example_id"]] == newest(inside & own, 1)


def test_a_world_made_whole_needs_its_folder_no_more(tmp_path: Path):
    """What was not asked for yet is there when the folder is gone; otherwise that is an error."""
    write_log(tmp_path / "w")
    whole, part = World(tmp_path / "w").whole(), World(tmp_path / "w")
    shutil.rmtree(tmp_path / "w")
    session = WorldSession(whole)
    assert ask(session, "search_logs", query="route 7 ")["rows"]
    assert ask(session, "get_entity", id=eid(1))["rows"]
    assert ask(session, "list_changes", since=SINCE, until="2026-03-04")["rows"] == []
    with pytest.raises(WorldError, match="replaced or taken away"):
        WorldSession(part).call("search_logs", {"query": "route 7 "})


def test_a_world_is_not_read_on_from_a_folder_that_holds_another(tmp_path: Path):
    """A world that was written anew under a session is not mixed with the one that it opened."""
    write_log(tmp_path / "w")
    session = session_of(tmp_path / "w")
    write_log(tmp_path / "w", "street")
    with pytest.raises(WorldError, match="replaced or taken away"):
        session.call("search_logs", {"query": "street"})
    assert ask(session_of(tmp_path / "w"), "search_logs", query="street")["rows"]


def test_a_database_that_is_used_again_holds_nothing_of_the_world_before(tmp_path: Path):
    """Databases are kept for other worlds, empty; while a session lives, its world keeps its own."""
    write_log(tmp_path / "one")
    write_log(tmp_path / "two", "street")
    first = session_of(tmp_path / "one")
    assert ask(first, "search_logs", query="route 7 ")["rows"]
    second = session_of(tmp_path / "two")
    assert ask(second, "search_logs", query="route 7 ")["rows"] == []
    assert ask(first, "search_logs", query="street 7 ")["rows"] == []
    first.close()
    del first
    gc.collect()
    database = lease()
    assert database.execute("show tables").fetchall() == []


def test_series_read_in_part_are_those_of_the_whole(tmp_path: Path):
    """The first questions about metrics read little, the later all: the answers are the same."""
    write_world(small_world(), tmp_path / "w")
    questions = [
        {"entity": eid(number), "since": f"2026-0{day}T12:00:00Z", "until": "2026-03-04T12:00:00Z"}
        for number in range(1, 12)
        for day in ("2-25", "2-26", "2-27", "2-28", "3-01", "3-02", "3-03")
    ]
    session = session_of(tmp_path / "w")
    later = [session.call("query_metrics", question) for question in questions]
    fresh = [session_of(tmp_path / "w").call("query_metrics", question) for question in questions]
    assert later == fresh
    assert sum('"points":[[' in answer.text for answer in fresh) > 4
    whole = WorldSession(World(tmp_path / "w").whole())
    assert [whole.call("query_metrics", question) for question in questions] == fresh
