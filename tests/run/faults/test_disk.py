"""A disk that fills up at any point, and a second writer: a named error, and nothing is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from run_killed import CALLS, check_resumed, finish, resumed, rows, start
from run_server import LOOKS, Server

pytest.importorskip("resource", reason="a limit on the size of files needs POSIX")

POINTS = ("before journal", "before landing", "before commit")
QUICK = {("before journal", 3), ("before commit", 3)}
"""Met in every run of the tests; the others only in slow ones."""


@pytest.mark.parametrize(
    ("point", "number"),
    [
        pytest.param(point, number, marks=() if (point, number) in QUICK else pytest.mark.slow)
        for point in POINTS
        for number in (1, 3, 6)
    ],
)
def test_a_full_disk_ends_the_run_and_loses_nothing(
    tmp_path: Path, undisturbed: list[Any], point: str, number: int
):
    """No file may grow from here on: exit with a named error, then resume to the same rows."""
    with Server() as server:
        code, out, err = finish(start(tmp_path, server.url, "play", point, str(number), "full"))
        assert code == 1, out + err
        assert err.startswith("StoreError: "), err
        assert "Free space" in err
        assert "Traceback" not in err
        check_resumed(tmp_path, server, undisturbed)


def test_without_landing_files_a_full_disk_costs_what_was_finished(tmp_path: Path):
    """The negative control: the same fault with that guard taken away is paid for twice."""
    with Server() as server:
        words = ("play", "after forgetting", "1", "full")
        code, _, _ = finish(start(tmp_path, server.url, *words, off="landing"))
        assert code == 1
        before = dict(server.asked)
        resumed(tmp_path, server)
        again = [case for case, asked in before.items() if asked == LOOKS + 1 < server.asked[case]]
        assert again, "nothing that was finished had to be asked again"


def test_a_second_writer_is_named_and_disturbs_nobody(tmp_path: Path, undisturbed: list[Any]):
    """While one process plays, a second ends at once, saying who holds the ledger."""
    ended = threading.Event()
    with Server() as server:
        # The first cannot end before the second has: one of its requests waits.
        server.on_request = lambda count: count == 3 and ended.wait(50)
        first = start(tmp_path, server.url, "play")
        while server.total < 3:
            assert first.poll() is None
            time.sleep(0.01)
        code, _, err = finish(start(tmp_path, server.url, "play"))
        ended.set()
        assert code == 1
        assert err.startswith("LedgerBusy: ")
        assert f"process {first.pid} is using the ledger" in err
        code, run, err = finish(first)
        assert code == 0, err
        assert rows(tmp_path, run) == undisturbed
        code, again, _ = finish(start(tmp_path, server.url, "play"))
        assert (code, again) == (0, run), "alone it may write, and finds nothing to do"
        assert server.total == CALLS
