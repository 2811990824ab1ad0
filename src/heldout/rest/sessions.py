"""Episodes by key: many at once, each one step at a time, ended when nobody asks any more."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from heldout.errors import HeldoutError, UsageError
from heldout.interface import ToolAnswer
from heldout.repair.interface import RepairInterface, RepairSession
from heldout.repair.sandbox.runner import Tier

IDLE_SECONDS = 3600.0
"""A model may think long between two steps; a session that nobody asks for is closed after this."""


class Refused(HeldoutError):
    """A request that cannot be met; ``status`` is HTTP's."""

    def __init__(self, status: int, what: str, *, where: str = "", mend: str = "") -> None:
        super().__init__(what, where=where, mend=mend)
        self.status = status


@dataclass(slots=True)
class Open:
    """One session: its episode, when it was asked last, and the lock that orders its steps."""

    key: str
    task: str
    session: RepairSession
    asked: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    grade: dict[str, Any] | None = None
    closed: bool = False


class Sessions:
    """Opens episodes, finds them by their keys, and closes what stood idle for too long.

    ``allowed`` are the tasks that may be opened. A key is 128 random bits: who does not know it
    cannot reach a session. ``clock`` is in seconds.
    """

    def __init__(
        self,
        allowed: frozenset[str],
        *,
        most: int = 64,
        idle_seconds: float = IDLE_SECONDS,
        tier: Tier = "jail",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.allowed = allowed
        self._most, self._idle, self._clock = most, idle_seconds, clock
        self._interface = RepairInterface(tier)
        self._open: dict[str, Open] = {}
        self._guard = threading.Lock()
        self._beginning = 0

    def __len__(self) -> int:
        return len(self._open)

    def start(self, task: str) -> Open:
        """Begin an episode of a task; no place left is a 429, a task that is not served a 404."""
        if task not in self.allowed:
            raise Refused(404, "no such task is served", mend="GET /tasks lists them")
        self.reap()
        with self._guard:
            if len(self._open) + self._beginning >= self._most:
                raise Refused(
                    429, f"{self._most} sessions are open, and no more are allowed",
                    mend="End one with DELETE /sessions/KEY",
                )  # fmt: skip
            self._beginning += 1
        made = None
        try:
            # Outside the lock: an episode takes a moment to build, and others step on meanwhile.
            session = self._interface.open(task, 0)
            made = Open(secrets.token_hex(16), task, session, self._clock())
        finally:
            with self._guard:
                self._beginning -= 1
                if made is not None:
                    self._open[made.key] = made
        return made

    @contextmanager
    def using(self, key: str) -> Iterator[Open]:
        """A session for one request at a time; one that ended or never was is a 404."""
        found = self._open.get(key)
        if found is None:
            raise Refused(404, "there is no such session", mend="POST /sessions starts one")
        with found.lock:
            if found.closed:
                raise Refused(404, "the session has ended", mend="POST /sessions starts one")
            found.asked = self._clock()
            yield found
            found.asked = self._clock()

    def step(self, key: str, tool: str, args: Mapping[str, Any]) -> tuple[ToolAnswer, Open]:
        """One call into a session's episode; one into an episode that is over is a 409."""
        with self.using(key) as one:
            if one.session.episode.ended:
                raise Refused(
                    409, f"the episode is over: {one.session.episode.ended}",
                    mend="POST /sessions/KEY/grade says what it was worth",
                )  # fmt: skip
            return one.session.call(tool, args), one

    def graded(self, key: str, *, end: bool) -> dict[str, Any]:
        """What an episode was worth, once; one under way is a 409 unless it is to end."""
        with self.using(key) as one:
            episode = one.session.episode
            if not episode.ended and not end:
                raise Refused(
                    409, "the episode is under way", mend="Submit a report, or say end=true"
                )
            if one.grade is None:
                episode.ended = episode.ended or "closed"
                one.grade = one.session.grade().as_dict()
            return one.grade

    def stop(self, key: str) -> None:
        """Close a session."""
        with self.using(key) as one:
            self._close(one)

    def reap(self) -> int:
        """Close what nobody asked for longer than is allowed; how many."""
        late = self._clock() - self._idle
        gone = 0
        for one in list(self._open.values()):
            if one.asked < late and one.lock.acquire(blocking=False):
                try:
                    self._close(one)
                    gone += 1
                finally:
                    one.lock.release()
        return gone

    def close(self) -> None:
        """Close every session."""
        for one in list(self._open.values()):
            with one.lock:
                self._close(one)

    def _close(self, one: Open) -> None:
        if not one.closed:
            one.closed = True
            one.session.close()
        with self._guard:
            self._open.pop(one.key, None)


def require_loopback(host: str, *, anywhere: bool) -> None:
    """Refuse (:class:`UsageError`) an address that others reach, unless it is wanted."""
    if host not in ("127.0.0.1", "::1", "localhost") and not anywhere:
        raise UsageError(
            f"'{host[:60]}' can be reached from other machines, and sessions run code",
            mend="Serve on 127.0.0.1, or say --anywhere in a network that you trust",
        )
