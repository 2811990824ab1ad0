"""The loop that plays a run: workers take slots, land what is finished, refill what was invalid."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heldout.llm import ModelName
from heldout.run.attempt import Parts, attempt
from heldout.run.caps import Budget
from heldout.run.history import outcomes
from heldout.run.journal import Journal
from heldout.run.landing import Ingest, ingest_landed, land, remove_if_empty
from heldout.run.plan import Plan, RunResult
from heldout.run.records import Record, dump_record
from heldout.run.reduce import run_status
from heldout.run.slots import GOES_ON, MAX_ATTEMPTS, Slot, slots
from heldout.settings import Settings
from heldout.store import Ledger, Scrubber
from heldout.store import queries as stored

_NOT_AGAIN = frozenset({"cap", "truth", "provider_refused"})
"""Reasons that another attempt at once would meet again; a later 'resume' tries them anew."""

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


class Player:
    """Plays one run once. Everything happens in one event loop, and files in one further thread."""

    def __init__(
        self,
        run: str,
        plan: Plan,
        ledger: Ledger,
        settings: Settings,
        parts: Parts,
        budget: Budget,
        on_progress: OnProgress | None,
    ) -> None:
        self.run = run
        self.plan = plan
        self._ledger = ledger
        self._landing = settings.landing
        self._journals = settings.state / "journal" / run
        self._parts = parts
        self._budget = budget
        self._on_progress = on_progress
        self._ingest = Ingest(ledger)
        self._scrub = Scrubber()
        self._files = ThreadPoolExecutor(1, thread_name_prefix="landing")
        free = ModelName.parse(plan.model).is_simulated
        self._syncer = None if free else ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._pending: deque[tuple[Slot, int]] = deque()
        self._failed: Counter[tuple[str, str, int]] = Counter()
        self._handed_on: set[Path] = set()
        self._refused = 0
        self._tally = Tally(0, 0.0)

    async def play(self, *, resumed: bool = False) -> RunResult:
        """Play what is absent and return every outcome of the run."""
        try:
            ingest_landed(self._ledger, self._landing, self._ingest)
            self._prepare()
            self._event("resumed" if resumed else "started")
            await self._work()
            return await self._finish()
        finally:
            await self._parts.client.aclose()
            self._files.shutdown()
            if self._syncer is not None:
                self._syncer.shutdown()

    def _prepare(self) -> None:
        """Find out what the ledger holds already, and queue what it lacks."""
        used: dict[tuple[str, str, int], int] = {}
        ended: dict[tuple[str, str, int], str] = {}
        paused: set[tuple[str, str, int]] = set()
        for row in stored.investigations(self._ledger, self.run):
            key = (row.incident, row.arm, row.repeat)
            used[key] = row.attempt + 1
            (paused.add if row.reason in GOES_ON else paused.discard)(key)
            if ended.get(key, "invalid") == "invalid":
                ended[key] = row.verdicts[0].result
            if row.reason not in GOES_ON:  # A judge that was away is asked anew by a later process.
                self._count_failure(key, row.verdicts[0].result, row.reason)
        every = slots(self.plan)
        self._tally = Tally(len(every), stored.cost(self._ledger, run=self.run).total_usd)
        for slot in every:
            number = used.get(slot.key, 0)
            result = ended.get(slot.key, "invalid")
            self._clear(slot, number, paused=slot.key in paused)
            if result == "invalid" and self._failed[slot.key] < MAX_ATTEMPTS:
                self._pending.append((slot, number))
            else:
                self._tally.results[result] += 1
        self._tally.begin()
        self._report()

    def _count_failure(self, key: tuple[str, str, int], result: str, reason: str) -> None:
        """Count what used up one of a slot's attempts; one that a cap stopped is only paused."""
        if result == "invalid" and reason != "cap":
            self._failed[key] += 1

    def _clear(self, slot: Slot, number: int, *, paused: bool) -> None:
        """Take away journals of stored attempts, which a killed process may have left.

        The one that a cap or the judge stopped is handed on to the next attempt.
        """
        for earlier in range(number):
            path = self._journal_path(slot, earlier)
            if paused and earlier == number - 1:
                self._handed_on.add(self._journal_path(slot, number))
                if path.exists():
                    path.replace(self._journal_path(slot, number))
            path.unlink(missing_ok=True)

    async def _work(self) -> None:
        count = min(self.plan.concurrency, len(self._pending))
        workers = [asyncio.create_task(self._worker()) for _ in range(count)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _worker(self) -> None:
        while self._pending and not self._stopped():
            slot, number = self._pending.popleft()
            self._tally.in_flight += 1
            try:
                record = await self._attempt(slot, number)
            finally:
                self._tally.in_flight -= 1
            self._settle(slot, number, record)

    def _stopped(self) -> bool:
        """True when nothing more may be started: a cap is reached, or the key is refused."""
        return bool(self._budget.reached()) or self._refused >= _REFUSALS

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
            await loop.run_in_executor(
                self._files, self._keep, record, self._landing / self.run / name
            )
        finally:
            journal.close()
        if record["reason"] in GOES_ON:
            journal.hand_on(self._journal_path(slot, number + 1))
            self._handed_on.add(self._journal_path(slot, number + 1))
        else:
            journal.forget()
        return record

    def _keep(self, record: Record, path: Path) -> None:
        """In the files' thread: land the record, then hand its rows to the ledger."""
        text = dump_record(record, self._scrub)
        land(path, text)
        self._ingest.add(json.loads(text), on_commit=partial(path.unlink, missing_ok=True))

    def _journal_path(self, slot: Slot, number: int) -> Path:
        return self._journals / f"{slot.file_name(number)}.jsonl"

    def _settle(self, slot: Slot, number: int, record: Record) -> None:
        result, reason = record["verdict"]["result"], record["reason"]
        if record["reason"] not in GOES_ON:  # Its calls are replayed, and counted, by the next one.
            self._tally.paid(record["spent"]["usd"])
        self._tally.paid(record["verdict"]["spent"]["usd"])
        self._count_failure(slot.key, result, reason)
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
        if self._on_progress is not None:
            self._on_progress(self._tally.progress())

    async def _finish(self) -> RunResult:
        await self._ledger.aflush()
        found = outcomes(self._ledger, self.run)
        absent = self._tally.total - len({(one.incident, one.arm, one.repeat) for one in found})
        status = run_status(found, self.plan, absent)
        why = self._budget.reached()
        if self._refused >= _REFUSALS:
            why = "the provider refuses"
        self._event(status, {"absent": absent, "why": why})
        await self._ledger.aflush()
        remove_if_empty(self._landing / self.run)
        remove_if_empty(self._journals)
        return RunResult(run=self.run, plan=self.plan, outcomes=found, absent=absent)

    def _event(self, status: str, detail: dict[str, Any] | None = None) -> None:
        row = {"run": self.run, "status": status, "detail_json": detail or {}}
        self._ledger.append("run_events", [row])
