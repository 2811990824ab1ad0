"""Playing a run into the ledger: what it holds is not played again, what is finished is added."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial
from typing import Any

from heldout.run.attempt import Parts
from heldout.run.caps import Budget
from heldout.run.crew import Crew, Desk, OnProgress
from heldout.run.history import outcomes
from heldout.run.landing import Ingest, ingest_landed, land, remove_if_empty
from heldout.run.plan import Plan, RunResult
from heldout.run.records import Record, dump_record
from heldout.run.reduce import run_status
from heldout.run.slots import slots
from heldout.run.standing import Past, SlotKey
from heldout.settings import Settings
from heldout.store import Ledger, Scrubber
from heldout.store import queries as stored


class Player:
    """Plays one run once, in the process that writes the ledger.

    ``gathered`` names the attempts, as (slot, number), that workers of this playing have made.
    """

    def __init__(
        self,
        run: str,
        plan: Plan,
        ledger: Ledger,
        settings: Settings,
        parts: Parts,
        budget: Budget,
        on_progress: OnProgress | None,
        gathered: Collection[tuple[SlotKey, int]] = (),
    ) -> None:
        self.run = run
        self.plan = plan
        self._ledger = ledger
        self._landing = settings.landing
        self._journals = settings.state / "journal" / run
        self._gathered = frozenset(gathered)
        self._ingest = Ingest(ledger)
        self._scrub = Scrubber()
        self._slots = slots(plan)
        desk = Desk(self._journals, self._keep, on_progress)
        self._crew = Crew(run, plan, self._slots, parts, budget, desk)

    async def play(self, *, resumed: bool = False) -> RunResult:
        """Play what is absent and return every outcome of the run."""
        try:
            ingest_landed(self._ledger, self._landing, self._ingest)
            past = [
                one._replace(now=(one.key, one.attempt) in self._gathered)
                for one in attempts_of(self._ledger, self.run)
            ]
            self._crew.prepare(past, stored.cost(self._ledger, run=self.run).total_usd)
            self._event("resumed" if resumed else "started")
            await self._crew.work()
            return await self._finish()
        finally:
            await self._crew.aclose()

    def _keep(self, record: Record, name: str) -> None:
        """In the files' thread: land the record, then hand its rows to the ledger."""
        text = dump_record(record, self._scrub)
        path = self._landing / self.run / name
        land(path, text)
        self._ingest.add(json.loads(text), on_commit=partial(path.unlink, missing_ok=True))

    async def _finish(self) -> RunResult:
        await self._ledger.aflush()
        found = outcomes(self._ledger, self.run)
        absent = len(self._slots) - len({(one.incident, one.arm, one.repeat) for one in found})
        status = run_status(found, self.plan, absent)
        self._event(status, {"absent": absent, "why": self._crew.stopped()})
        await self._ledger.aflush()
        remove_if_empty(self._landing / self.run)
        remove_if_empty(self._journals)
        return RunResult(run=self.run, plan=self.plan, outcomes=found, absent=absent)

    def _event(self, status: str, detail: dict[str, Any] | None = None) -> None:
        row = {"run": self.run, "status": status, "detail_json": detail or {}}
        self._ledger.append("run_events", [row])


def attempts_of(ledger: Ledger, run: str) -> list[Past]:
    """What a ledger holds of a run."""
    return [
        Past((row.incident, row.arm, row.repeat), row.attempt, row.verdicts[0].result, row.reason)
        for row in stored.investigations(ledger, run)
    ]
