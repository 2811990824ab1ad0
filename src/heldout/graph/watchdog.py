"""A time limit on calls: one thread for the whole process, asleep until the next limit is due.

A timer for each call would start a thread each time, which costs more than many of the calls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_NEVER = float("inf")


class Watchdog:
    """Stops what takes too long. Safe to use from many threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._running: dict[int, tuple[float, Callable[[], None]]] = {}
        self._number = 0
        self._wakes_at = _NEVER
        self._thread: threading.Thread | None = None

    @contextmanager
    def limit(self, seconds: float, stop: Callable[[], None]) -> Iterator[None]:
        """Call ``stop`` once, from another thread, if the block is not over after ``seconds``.

        It is never called after the block has ended, and must not raise.
        """
        due = time.monotonic() + seconds
        with self._changed:
            self._number += 1
            number = self._number
            self._running[number] = (due, stop)
            if self._thread is None or not self._thread.is_alive():
                self._wakes_at = due
                self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
                self._thread.start()
            elif due < self._wakes_at:
                self._wakes_at = due
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._running.pop(number, None)

    def _watch(self) -> None:
        """Sleep until the earliest limit is due, even if its block has ended by then.

        So a busy process wakes the thread once in the time of a limit, not once for each block.
        """
        with self._changed:
            while True:
                left = self._wakes_at - time.monotonic()
                if left > 0:
                    self._changed.wait(None if left == _NEVER else left)
                    continue
                now = time.monotonic()
                for number, (due, stop) in list(self._running.items()):
                    if due <= now:
                        del self._running[number]
                        stop()
                self._wakes_at = min((due for due, _ in self._running.values()), default=_NEVER)


WATCHDOG = Watchdog()
