"""The loop that plays slots: workers take them, keep what is finished, refill what was invalid."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from heldout.llm import ModelName
from heldout.run.attempt import Parts, attempt
from heldout.run.caps import Budget
from heldout.run.journal import Journal
from heldout.run.plan import Plan
from heldout.run.records import Record
from heldout.run.slots import GOES_ON, MAX_ATTEMPTS, Slot
from heldout.run.standing import GIVEN_UP, Past, SlotKey, standing, uses_up
from heldout.store import Scrubber

_NOT_AGAIN = GIVEN_UP | {"cap"}

_REFUSALS = 3
"""So many refusals of the provider, before anything was valid, end a run: the key is wrong."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands, in slots.

    ``usd`` is ``None`` where a price is unknown, ``eta_seconds`` until something was finished.
    """

    done: int
    total: int
    passed: int
    failed: int
    invalid: int
    in_flight: int
    usd: float | None
    eta_seconds: float | None


OnProgress = Callable[[Progress], None]


class Tally:
    """Counts slots as they are settled."""

    def __init__(self, total: int, usd: float | None) -> None:
        self.total = total
        self.usd = usd
        self.in_flight = 0
        self.results: Counter[str] = Counter()
        """Settled slots by result."""
        self._before = 0
        self._began = time.monotonic()

    def begin(self) -> None:
        """What is settled so far was so before this process; the ETA leaves it out."""
        self._before = self.results.total()
        self._began = time.monotonic()

    def paid(self, usd: float | None) -> None:
        """Count one attempt's price."""
        self.usd = None if usd is None or self.usd is None else self.usd + usd

    def progress(self) -> Progress:
        """A snapshot."""
        done = self.results.total()
        fresh = done - self._before
        elapsed = time.monotonic() - self._began
        return Progress(
            done=done,
            total=self.total,
            passed=self.results["pass"],
            failed=self.results["fail"],
            invalid=self.results["invalid"],
            in_flight=self.in_flight,
            usd=self.usd,
            eta_seconds=elapsed / fresh * (self.total - done) if fresh > 0 else None,
        )


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a crew's work lies, and whom it tells.

    ``keep`` is called in the files' thread with a finished record and its file's name; when it
    returns the record outlives this process. ``forbidden`` is asked before each slot why no more
    may be started; empty means that they may.
    """

    journals: Path
    keep: Callable[[Record, str], None]
    on_progress: OnProgress | None = None
    forbidden: Callable[[], str] = str


class Crew:
    """Plays slots of one run. All in one event loop, and files in one further thread."""

    def __init__(
        self, run: str, plan: Plan, slots: Sequence[Slot], parts: Parts, budget: Budget, desk: Desk
    ) -> None:
        self.run = run
        self.plan = plan
        self._slots = slots
        self._parts = parts
        self._budget = budget
        self._desk = desk
        self._scrub = Scrubber()
        self._files = ThreadPoolExecutor(1, thread_name_prefix="landing")
        free = ModelName.parse(plan.model).is_simulated
        self._syncer = None if free else ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._pending: deque[tuple[Slot, int]] = deque()
        self._failed: Counter[SlotKey] = Counter()
        self._handed_on: set[Path] = set()
        self._refused = 0
        self._tally = Tally(0, 0.0)

    @property
    def progress(self) -> Progress:
        """Where it stands."""
        return self._tally.progress()

    def prepare(self, past: Iterable[Past], usd: float | None) -> None:
        """Learn what was played before and what that cost, and queue what is left."""
        found = standing(self._slots, past)
        self._tally = Tally(len(self._slots), usd)
        self._tally.results += found.results
        self._failed = found.failed
        self._pending = deque(found.pending)
        valid = found.results["pass"] + found.results["fail"]
        self._refused = 0 if valid else found.refused
        for slot in self._slots:
            self._clear(slot, found.used[slot.key], paused=slot.key in found.paused)
        self._tally.begin()
        self._report()

    async def work(self) -> None:
        """Play what is queued, until it is done or must stop."""
        count = min(self.plan.concurrency, len(self._pending))
        workers = [asyncio.create_task(self._worker()) for _ in range(count)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def aclose(self) -> None:
        """Let go of the client and of the threads."""
        await self._parts.client.aclose()
        self._files.shutdown()
        if self._syncer is not None:
            self._syncer.shutdown()

    def stopped(self) -> str:
        """Why nothing more may be started: a cap, a refused key; empty while nothing forbids it."""
        if self._refused >= _REFUSALS:
            return "the provider refuses"
        return self._budget.reached() or self._desk.forbidden()

    def _clear(self, slot: Slot, number: int, *, paused: bool) -> None:
        """Take away journals of kept attempts, which a killed process may have left.

        The one that a cap or the judge stopped is handed on to the next attempt.
        """
        for earlier in range(number):
            path = self._journal_path(slot, earlier)
            if paused and earlier == number - 1:
                self._handed_on.add(self._journal_path(slot, number))
                if path.exists():
                    path.replace(self._journal_path(slot, number))
            path.unlink(missing_ok=True)

    async def _worker(self) -> None:
        while self._pending and not self.stopped():
            slot, number = self._pending.popleft()
            self._tally.in_flight += 1
            try:
                record = await self._attempt(slot, number)
            finally:
                self._tally.in_flight -= 1
            self._settle(slot, number, record)

    async def _attempt(self, slot: Slot, number: int) -> Record:
        journal = Journal(self._journal_path(slot, number), self._syncer, self._scrub)
        try:
            entries = journal.read()
            if journal.path not in self._handed_on:
                for entry in entries:  # Paid by a process that was killed: in no row yet.
                    usage = entry.reply.usage
                    self._budget.add(entry.reply.usd, usage.input_tokens + usage.output_tokens)
            record = await attempt(
                self.run, self.plan, slot, number, self._parts, self._budget, journal
            )
            name = slot.file_name(number) + ".json"
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._files, self._desk.keep, record, name)
        finally:
            journal.close()
        if record["reason"] in GOES_ON:
            journal.hand_on(self._journal_path(slot, number + 1))
            self._handed_on.add(self._journal_path(slot, number + 1))
        else:
            journal.forget()
        return record

    def _journal_path(self, slot: Slot, number: int) -> Path:
        return self._desk.journals / f"{slot.file_name(number)}.jsonl"

    def _settle(self, slot: Slot, number: int, record: Record) -> None:
        result, reason = record["verdict"]["result"], record["reason"]
        if record["reason"] not in GOES_ON:  # Its calls are replayed, and counted, by the next one.
            self._tally.paid(record["spent"]["usd"])
        self._tally.paid(record["verdict"]["spent"]["usd"])
        self._failed[slot.key] += uses_up(result, reason)
        again = reason not in _NOT_AGAIN and self._failed[slot.key] < MAX_ATTEMPTS
        if result == "invalid" and again:
            self._pending.append((slot, number + 1))
        else:
            self._tally.results[result] += 1
        if reason == "provider_refused":
            valid = self._tally.results["pass"] + self._tally.results["fail"]
            self._refused += 0 if valid else 1
        elif result != "invalid":
            self._refused = 0
        self._report()

    def _report(self) -> None:
        if self._desk.on_progress is not None:
            self._desk.on_progress(self._tally.progress())
