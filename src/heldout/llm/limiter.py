"""How many requests may be in flight for one (provider, model): additive increase, cut on 429.

The state is shared by every client of the process, over all event loops and threads, so that two
jobs on one key slow down together.

Slots are apart for each role (agent, proposer, judge, reviewer): a slow judge that fills its own
takes none from the agents, and agents that fill theirs leave the judge room. What a provider says
about its limits is shared by all roles of the same model at the same place, because they draw on
one quota: a 429 to any of them cuts each of them once per episode, and a Retry-After holds all of
them back. Another model, or another base URL, is another quota and is left alone.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["agent", "proposer", "judge", "reviewer"]

CUT = 0.7
"""Factor of a cut; one episode of 429s cuts once."""

LONGEST_PAUSE = 120.0
"""Seconds: a Retry-After beyond this is left to the retry budget of the call that got it."""


@dataclass(eq=False, slots=True)
class _Waiter:
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]


@dataclass(eq=False, slots=True)
class Limiter:
    """An adaptive limit between 1 and the highest concurrency that a live client asked for."""

    clock: Callable[[], float] = time.monotonic
    limit: float = 1.0
    in_flight: int = 0
    throttled: int = 0
    """How many 429 answers were seen."""
    _ceilings: list[int] = field(default_factory=list)
    _waiters: deque[_Waiter] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _quota: Mapping[Role, Limiter] = field(default_factory=dict)
    """The limiters of all roles that draw on the same quota, this one among them."""
    _last_cut: float = -math.inf
    _paused_until: float = -math.inf

    @property
    def ceiling(self) -> int:
        """The highest concurrency asked for by a live client, 1 without one."""
        return max(self._ceilings, default=1)

    def register(self, concurrency: int) -> None:
        """A client wants up to ``concurrency`` requests in flight."""
        with self._lock:
            before = self.ceiling
            self._ceilings.append(max(concurrency, 1))
            if self._last_cut == -math.inf or self.limit >= before:
                self.limit = float(self.ceiling)
            woken = self._hand_over()
        _wake(woken)

    def unregister(self, concurrency: int) -> None:
        """A client is closed."""
        with self._lock:
            self._ceilings.remove(max(concurrency, 1))
            self.limit = max(min(self.limit, float(self.ceiling)), 1.0)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Hold one slot; gives the moment it was granted, for :meth:`throttle`."""
        await self._acquire()
        try:
            pause = self._paused_until - self.clock()
            if pause > 0:
                await asyncio.sleep(pause)
            yield self.clock()
        finally:
            self._release()

    def succeed(self) -> None:
        """A request was answered: probe upwards by one per round of answers, when in full use."""
        with self._lock:
            if self.in_flight >= math.floor(self.limit):
                self.limit = min(self.limit + 1 / self.limit, float(self.ceiling))

    def throttle(self, since: float, retry_after: float | None = None) -> None:
        """A request begun at ``since`` got 429: cut once per episode, and hold new ones back."""
        self.throttled += 1
        for limiter in tuple(self._quota.values()) or (self,):
            limiter._slow_down(since, retry_after)

    def _slow_down(self, since: float, retry_after: float | None) -> None:
        with self._lock:
            now = self.clock()
            if since >= self._last_cut:
                self.limit = max(self.limit * CUT, 1.0)
                self._last_cut = now
            if retry_after is not None and 0 < retry_after <= LONGEST_PAUSE:
                self._paused_until = max(self._paused_until, now + retry_after)

    async def _acquire(self) -> None:
        with self._lock:
            if not self._waiters and self.in_flight < math.floor(self.limit):
                self.in_flight += 1
                return
            loop = asyncio.get_running_loop()
            waiter = _Waiter(loop, loop.create_future())
            self._waiters.append(waiter)
        try:
            await waiter.future
        except asyncio.CancelledError:
            with self._lock:
                queued = waiter in self._waiters
                if queued:
                    self._waiters.remove(waiter)
            if not queued:
                self._release()
            raise

    def _release(self) -> None:
        with self._lock:
            self.in_flight -= 1
            woken = self._hand_over()
        _wake(woken)

    def _hand_over(self) -> list[_Waiter]:
        """Give free slots to those who wait longest; call with the lock held."""
        woken = []
        while self._waiters and self.in_flight < math.floor(self.limit):
            waiter = self._waiters.popleft()
            if waiter.loop.is_closed():
                continue
            self.in_flight += 1
            woken.append(waiter)
        return woken


def _wake(waiters: list[_Waiter]) -> None:
    for waiter in waiters:
        waiter.loop.call_soon_threadsafe(_grant, waiter.future)


def _grant(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


_quotas: dict[tuple[str, str, str], dict[Role, Limiter]] = {}
_quotas_lock = threading.Lock()


def limiter_for(provider: str, model: str, base_url: str, role: Role = "agent") -> Limiter:
    """The one limiter of this process for a role of a model of a provider at a base URL."""
    with _quotas_lock:
        quota = _quotas.setdefault((provider, model, base_url), {})
        if role not in quota:
            quota[role] = Limiter(_quota=quota)
        return quota[role]
