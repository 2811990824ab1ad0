"""Sixteen investigations at once in one process, on several worlds, as if each were alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.graph.worlds import eid, small_builder, small_logs, small_metrics

from heldout.graph import WorldInterface, write_world

SESSIONS, ROUNDS = 16, 2
NAMES = ("harbor", "meadow", "quarry", "beacon", "lantern")
WINDOW = {"since": "2026-02-25T12:00:00Z", "until": "2026-03-04T12:00:00Z"}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_entities", {"query": "api"}),
    ("get_entity", {"id": eid(4), "as_of": "2026-02-26"}),
    ("get_neighbors", {"id": eid(2), "depth": 2}),
    ("find_paths", {"src": eid(1), "dst": eid(6)}),
    ("list_changes", {"around": {"id": eid(2)}, **WINDOW}),
    ("get_change", {"id": "c-00000001"}),
    ("get_field_history", {"entity": eid(4), "field": "data.pool.maxSize"}),
    ("compare_state", {"entity": eid(4), "entity_b": eid(5)}),
    ("search_logs", {"query": "served [a-z]+", "mode": "regex"}),
    ("log_patterns", WINDOW),
    ("query_metrics", {"entity": eid(1), **WINDOW}),
    ("list_alerts", WINDOW),
    ("check_health", {}),
    ("get_entity", {"id": "e-99999999"}),
)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Five worlds that differ in the name of one service."""
    folder = tmp_path_factory.mktemp("side_by_side")
    for name in NAMES:
        build = small_builder()
        build.rows["entity"][0]["name"] = f"{name}-api"
        tables = build.tables(logs=(small_logs(),), metrics=(small_metrics(),))
        write_world(tables, folder / name)
    return [folder / name for name in NAMES]


def investigate(interface: WorldInterface, world: Path, number: int) -> list[str]:
    """Every tool a few times, begun at another place by each investigation."""
    session = interface.open(str(world), number)
    texts: dict[int, str] = {}
    for step in range(ROUNDS * len(CALLS)):
        at = (step + number) % len(CALLS)
        text = session.call(*CALLS[at]).text
        assert texts.setdefault(at, text) == text
    session.call(
        "submit_diagnosis",
        {"root_cause_entity": eid(number), "root_cause_change": "none", "mechanism": "m"},
    )
    submission = session.finish()
    session.close()
    assert submission is not None
    assert submission.root_cause_entity == eid(number)
    return [texts[at] for at in sorted(texts)]


Work = Callable[[int], list[str]]


def in_threads(work: Work) -> list[list[str]]:
    """Each investigation in a thread of its own."""
    found: dict[int, list[str]] = {}
    problems: list[BaseException] = []

    def one(number: int) -> None:
        try:
            found[number] = work(number)
        except BaseException as problem:  # noqa: BLE001 (carried to the assertion)
            problems.append(problem)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    return [found[number] for number in range(SESSIONS)]


def in_one_loop(work: Work) -> list[list[str]]:
    """All investigations out of one event loop."""

    async def everything() -> list[list[str]]:
        return await asyncio.gather(
            *(asyncio.to_thread(work, number) for number in range(SESSIONS))
        )

    return asyncio.run(everything())


@pytest.mark.parametrize(("side_by_side", "cached"), [(in_threads, 2), (in_one_loop, len(NAMES))])
def test_sixteen_investigations_get_what_each_would_get_alone(
    worlds: list[Path], side_by_side: Callable[[Work], list[list[str]]], cached: int
):
    """No error, no answer of another world or session, also where worlds are loaded again."""
    interface = WorldInterface(cached_worlds=cached)

    def work(number: int) -> list[str]:
        return investigate(interface, worlds[number % len(worlds)], number)

    found = side_by_side(work)
    alone = [investigate(WorldInterface(), world, 1) for world in worlds]
    assert len({tuple(texts) for texts in alone}) == len(NAMES)
    for number, texts in enumerate(found):
        assert texts == alone[number % len(worlds)]
        assert NAMES[number % len(NAMES)] in texts[0]
        assert all("unavailable" not in text for text in texts)
        assert '"unknown_id"' in texts[-1]
