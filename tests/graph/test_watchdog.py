"""One thread limits the time of every call in the process."""

from __future__ import annotations

import threading
import time

from heldout.graph.watchdog import Watchdog


def _watchers() -> int:
    return sum(thread.name == "watchdog" for thread in threading.enumerate())


def test_a_block_that_takes_too_long_is_stopped_once():
    """The limit of one block comes while another, begun before it, has time left."""
    dog, stopped = Watchdog(), threading.Event()
    calls: list[str] = []

    def stop() -> None:
        calls.append("short")
        stopped.set()

    with dog.limit(60.0, lambda: calls.append("long")), dog.limit(0.05, stop):
        assert stopped.wait(10.0)
        time.sleep(0.05)
    assert calls == ["short"]


def test_a_block_that_ends_in_time_is_never_stopped():
    """Once a block has ended its limit is forgotten; the next one's still comes."""
    dog, stopped = Watchdog(), threading.Event()
    calls: list[str] = []
    for _ in range(50):
        with dog.limit(0.05, lambda: calls.append("ended")):
            pass
    with dog.limit(0.2, stopped.set):
        assert stopped.wait(10.0)
    assert calls == []


def test_many_blocks_in_many_threads_take_one_more_thread():
    """Each is stopped on its own; one watcher serves them all."""
    dog = Watchdog()
    before = _watchers()
    stopped = [threading.Event() for _ in range(16)]

    def work(number: int) -> None:
        with dog.limit(0.02 * (1 + number % 4), stopped[number].set):
            assert stopped[number].wait(10.0)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(event.is_set() for event in stopped)
    assert _watchers() == before + 1
