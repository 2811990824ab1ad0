"""Workers in processes of their own, killed at any point: the same rows, nothing paid for twice."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
import run_process as process
from run_killed import CALLS, finish, rows
from run_server import LOOKS, Server
from run_shards import start

POINTS = [point for point in process.POINTS if "commit" not in point]


def worked(root: Path, url: str, run: str, *words: str, off: str = "") -> None:
    """Play all three shards at once; the second may be killed, the others must end well."""
    running = [start(root, url, run, f"{n}/3", *(words if n == 2 else ()), off=off) for n in (1, 2, 3)]  # fmt: skip
    ended = [finish(one) for one in running]
    codes = [code for code, _, _ in ended]
    assert codes == [0, -signal.SIGKILL if words else 0, 0], [err for _, _, err in ended]


def begun(root: Path, url: str) -> str:
    """Cut the plan in three; the run's id."""
    code, run, err = finish(start(root, url, "cut"))
    assert code == 0, err
    return run


def moments() -> list[Any]:
    """(point, how often it was passed before) at which a worker dies."""
    return [
        pytest.param(
            point,
            number,
            marks=() if (point, number) == ("torn landing", 2) else pytest.mark.slow,
        )
        for point in POINTS
        for number in (1, 2)
    ]


@pytest.mark.parametrize(("point", "number"), moments())
def test_a_killed_worker_costs_at_most_the_reply_in_flight(
    tmp_path: Path, undisturbed: list[Any], point: str, number: int
):
    """SIGKILL within one shard: the gathering process finds it dead and plays what it left."""
    with Server() as server:
        run = begun(tmp_path, server.url)
        worked(tmp_path, server.url, run, point, str(number))
        code, again, err = finish(start(tmp_path, server.url, "resume"))
        assert (code, again) == (0, run), err
        assert server.total <= CALLS + 1
        if point != "before journal":
            assert set(server.asked.values()) == {LOOKS + 1}, "nothing is asked twice"
        assert rows(tmp_path, run) == undisturbed


@pytest.mark.slow
def test_without_its_journal_a_killed_worker_costs_more(tmp_path: Path, undisturbed: list[Any]):
    """The check above does count: replies that no journal kept are asked again."""
    with Server() as server:
        run = begun(tmp_path, server.url)
        worked(tmp_path, server.url, run, "after journal", "3", off="journal")
        code, _, err = finish(start(tmp_path, server.url, "resume", off=""))
        assert code == 0, err
        assert server.total >= CALLS + 3
        assert rows(tmp_path, run) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("point", ["before commit", "after commit"])
@pytest.mark.parametrize("number", [2, 3, 4])
def test_the_gathering_process_may_be_killed_too(
    tmp_path: Path, undisturbed: list[Any], point: str, number: int
):
    """Killed between files and rows, it is started again and finds both; nothing is asked."""
    with Server() as server:
        run = begun(tmp_path, server.url)
        worked(tmp_path, server.url, run)
        code, _, _ = finish(start(tmp_path, server.url, "resume", "", point, str(number)))
        assert code == -signal.SIGKILL
        code, _, err = finish(start(tmp_path, server.url, "resume"))
        assert code == 0, err
        assert server.total == CALLS
        assert rows(tmp_path, run) == undisturbed


@pytest.mark.slow
def test_a_killed_worker_may_be_started_again(tmp_path: Path, undisturbed: list[Any]):
    """The same shard in a new process goes on from its journal and its landed files."""
    with Server() as server:
        run = begun(tmp_path, server.url)
        worked(tmp_path, server.url, run, "after journal", "6")
        code, state, err = finish(start(tmp_path, server.url, run, "2/3"))
        assert (code, state) == (0, "ended"), err
        assert server.total == CALLS
        assert finish(start(tmp_path, server.url, "resume"))[0] == 0
        assert server.total == CALLS
        assert rows(tmp_path, run) == undisturbed
