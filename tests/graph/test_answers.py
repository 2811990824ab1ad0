"""Answers that a world has given already."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.graph.conformance import ask

from heldout.graph.answers import Answers
from heldout.graph.session import DuckBackend, WorldSession
from heldout.graph.world import World
from heldout.interface import ToolAnswer

WEEK = {"since": "2026-02-25T12:00:00Z", "until": "2026-03-04T12:00:00Z"}


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The arguments of every list of changes that was really looked up."""
    seen: list[object] = []
    found = DuckBackend.list_changes

    def counting(self: DuckBackend, args: object) -> object:
        seen.append(args)
        return found(self, args)  # type: ignore[arg-type]

    monkeypatch.setattr(DuckBackend, "list_changes", counting)
    return seen


def test_sessions_of_one_world_share_what_was_answered(small_dir: Path, looked: list[object]):
    """The same question in other words of the same meaning is looked up once, others anew."""
    world = World(small_dir)
    one, two = WorldSession(world), WorldSession(world)
    first = ask(one, "list_changes", **WEEK, limit=3)
    assert ask(two, "list_changes", limit="3", **WEEK) == first
    assert len(looked) == 1
    further = ask(two, "list_changes", **WEEK, limit=3, cursor=first["cursor"])
    assert further["rows"] != first["rows"]
    assert ask(two, "list_changes", **WEEK, limit=2)["rows"] == first["rows"][:2]
    assert len(looked) == 3


def test_worlds_do_not_share_answers(small_dir: Path, looked: list[object]):
    """What one world answered is no answer of another."""
    ask(WorldSession(World(small_dir)), "list_changes", **WEEK)
    ask(WorldSession(World(small_dir)), "list_changes", **WEEK)
    assert len(looked) == 2


def test_errors_are_not_kept(small_dir: Path, monkeypatch: pytest.MonkeyPatch):
    """What failed once is tried again: a slow machine must not make a question unanswerable."""
    world = World(small_dir)
    session = WorldSession(world, timeout_seconds=0.05)

    def runaway(self: DuckBackend, args: object) -> object:
        return self.reader.rows(
            "select sum(sqrt(a.range * b.range)) from range(9000000) a, range(9000000) b"
        )

    with monkeypatch.context() as patch:
        patch.setattr(DuckBackend, "list_changes", runaway)
        assert session.call("list_changes", WEEK).is_error
    assert ask(session, "list_changes", **WEEK)["rows"]


def test_what_was_not_asked_for_the_longest_goes():
    """No more answers are kept than were meant to be."""
    kept = Answers(2)
    for name in ("a", "b"):
        kept.keep(name, ToolAnswer(name))
    assert kept.get("a") == ToolAnswer("a")
    kept.keep("c", ToolAnswer("c"))
    assert [kept.get(name) is not None for name in "abc"] == [True, False, True]
    none = Answers(0)
    none.keep("a", ToolAnswer("a"))
    assert none.get("a") is None
