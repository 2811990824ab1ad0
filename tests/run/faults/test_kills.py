"""SIGKILL at any point: the same rows afterwards, and nothing finished is paid for twice."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
import run_process as process
import run_stubs as stubs
from run_killed import CALLS, check_resumed, finish, resumed, start
from run_server import LOOKS, Server

from heldout.store import Ledger
from heldout.store import queries as q


def moments() -> list[Any]:
    """(point, how often it was passed before) to be killed at."""
    return [
        pytest.param(
            point,
            number,
            marks=() if (point, number) == ("torn landing", 2) else pytest.mark.slow,
        )
        for point in process.POINTS
        for number in (1, 2, 6)
    ]


@pytest.mark.parametrize(("point", "number"), moments())
def test_a_process_killed_at_a_point_is_resumed(
    tmp_path: Path, undisturbed: list[Any], point: str, number: int
):
    """SIGKILL before, within and after every write: same rows, nothing finished is asked again."""
    with Server() as server:
        code, _, _ = finish(start(tmp_path, server.url, "play", point, str(number)))
        assert code == -signal.SIGKILL
        check_resumed(tmp_path, server, undisturbed)


def kill_at_request(root: Path, server: Server, number: int, delay: float) -> None:
    """Kill the playing process from outside, a moment after its n-th request."""
    running = start(root, server.url, "play")

    def hit(count: int) -> None:
        if count == number:
            os.kill(running.pid, signal.SIGKILL)

    server.delay = delay
    server.on_request = hit
    code, _, err = finish(running)
    assert code == -signal.SIGKILL, err
    server.on_request = lambda _: None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_fifty_random_kills(tmp_path: Path, undisturbed: list[Any], seed: int):
    """Killed at a random request, from outside, and resumed."""
    dice = random.Random(seed)
    with Server() as server:
        kill_at_request(tmp_path, server, dice.randint(1, CALLS), dice.random() * 0.01)
        check_resumed(tmp_path, server, undisturbed)


@pytest.mark.slow
def test_killed_twice_and_resumed_twice(tmp_path: Path, undisturbed: list[Any]):
    """A resumed run may be killed as well."""
    with Server() as server:
        finish(start(tmp_path, server.url, "play", "after journal", "5"))
        with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
            run = q.runs(ledger)[0].run
        code, _, _ = finish(start(tmp_path, server.url, run, "after landing", "2"))
        assert code == -signal.SIGKILL
        check_resumed(tmp_path, server, undisturbed)


@pytest.mark.parametrize("off", [pytest.param("", marks=pytest.mark.slow), "journal"])
def test_the_journal_is_what_saves_replies(tmp_path: Path, undisturbed: list[Any], off: str):
    """Killed at the eleventh reply: at most the two others in flight are asked again.

    Without the journal the provider counts more, which is what these tests would show.
    """
    with Server() as server:
        code, _, _ = finish(start(tmp_path, server.url, "play", "after journal", "11", off=off))
        assert code == -signal.SIGKILL
        again = server.total + resumed(tmp_path, server)[1] - CALLS
    assert again >= 3 if off else again <= 2


@pytest.mark.parametrize("off", [pytest.param("", marks=pytest.mark.slow), "landing"])
def test_the_landing_file_is_what_saves_the_finished(tmp_path: Path, off: str):
    """Killed when a journal has just gone: without its landing file that work is paid again."""
    with Server() as server:
        code, _, _ = finish(start(tmp_path, server.url, "play", "after forgetting", "1", off=off))
        assert code == -signal.SIGKILL
        again = server.total + resumed(tmp_path, server)[1] - CALLS
    assert again >= LOOKS + 1 if off else again <= 3
