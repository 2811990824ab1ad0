"""A worker: plays one shard of a run with no ledger of its own, and leaves landing files."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from heldout.errors import HeldoutError, StoreError
from heldout.run.caps import Budget, Caps
from heldout.run.crew import Crew, Desk, OnProgress, Progress
from heldout.run.landing import land
from heldout.run.manifest import require_access
from heldout.run.opening import Given, opened
from heldout.run.plan import Plan
from heldout.run.records import Record, dump_record, load_record
from heldout.run.shards.folder import Folder, ShardState, read_small
from heldout.run.shards.sheet import Shard, Sheet
from heldout.run.slots import GOES_ON, Slot, slots
from heldout.run.standing import Past
from heldout.settings import Settings
from heldout.store import Scrubber

_SAID_EVERY = 1.0
"""Seconds between two notes of where a shard stands."""


class Worker:
    """Plays one shard; started again, it goes on where it was stopped."""

    def __init__(self, folder: Folder, sheet: Sheet, shard: Shard, plan: Plan) -> None:
        self._folder = folder
        self._edition = sheet.edition
        self._shard = shard
        self._digest = plan.digest()
        self._run = sheet.run
        self.plan = replace(plan, concurrency=sheet.concurrency)
        keys = sheet.keys(shard)
        self._slots = [slot for slot in slots(plan) if slot.key in keys]
        self._past = [one for one in sheet.earlier() if one.key in keys]
        self._caps = sheet.caps
        self._scrub = Scrubber()
        self._said = 0.0
        self._listener: OnProgress | None = None

    async def play(
        self, settings: Settings, given: Given, on_progress: OnProgress | None = None
    ) -> ShardState:
        """Play what the shard lacks and return where it stands.

        A run that was gathered meanwhile, or is over, is a :class:`StoreError`; another worker of
        the same shard a :class:`UsageError`.
        """
        require_access(self.plan)
        self._listener = on_progress
        self._require_open()
        with self._folder.held(self._edition, self._shard):
            landed = self._landed()
            budget = _budget_after(landed, self._caps)
            async with opened(self.plan, settings, budget, given) as parts:
                desk = Desk(self._folder.journals, self._keep, self._tell, self._forbidden)
                crew = Crew(self._run, self.plan, self._slots, parts, budget, desk)
                try:
                    crew.prepare(self._past + [_past_of(one) for one in landed], budget.usd)
                    self._say(crew.progress, "playing")
                    await crew.work()
                except BaseException as error:
                    why = str(error) if isinstance(error, HeldoutError) else type(error).__name__
                    with suppress(HeldoutError):  # The first failure is the one to hear of.
                        self._say(crew.progress, "stopped", why)
                    raise
                finally:
                    await crew.aclose()
                self._require_open()
                return self._say(crew.progress, "ended", crew.stopped())

    def _landed(self) -> list[Record]:
        """What this shard has landed already, oldest attempt of a slot first."""
        used = {one.key: one.attempt + 1 for one in sorted(self._past, key=lambda one: one.attempt)}
        return [
            record
            for slot in self._slots
            for record in self._attempts_landed(slot, used.get(slot.key, 0))
        ]

    def _attempts_landed(self, slot: Slot, number: int) -> Iterator[Record]:
        while True:
            path = self._folder.landed / f"{slot.file_name(number)}.json"
            data = read_small(path)
            if data is None:
                return
            yield load_record(data, str(path))
            number += 1

    def _keep(self, record: Record, name: str) -> None:
        signed = {
            **record,
            "plan": self._digest,
            "edition": self._edition,
            "shard": str(self._shard),
        }
        land(self._folder.landed / name, dump_record(signed, self._scrub))

    def _forbidden(self) -> str:
        return "" if self._folder.is_open(self._edition) else "the run was gathered meanwhile"

    def _require_open(self) -> None:
        if self._forbidden():
            raise StoreError(
                f"shard {self._shard} is not wanted any more: the run was gathered without it",
                where=str(self._folder.path),
                mend="What landed since is not used; 'heldout resume' on the machine of the ledger "
                "says where the run stands",
            )

    def _tell(self, progress: Progress) -> None:
        if self._listener is not None:
            self._listener(progress)
        if time.monotonic() - self._said >= _SAID_EVERY:
            self._say(progress, "playing")

    def _say(
        self, progress: Progress, state: Literal["playing", "ended", "stopped"], why: str = ""
    ) -> ShardState:
        said = ShardState.of(progress, state).model_copy(update={"why": why[:500]})
        self._folder.say(self._edition, self._shard, said)
        self._said = time.monotonic()
        return said


def _past_of(record: Record) -> Past:
    key = (record["incident"], record["arm"], record["repeat"])
    return Past(key, record["attempt"], record["verdict"]["result"], record["reason"], now=True)


def _budget_after(landed: Sequence[Record], caps: Caps) -> Budget:
    """What the shard may still spend: as in the ledger, one that was gone on with counts once."""
    budget = Budget(caps)
    last = {_past_of(record).key: record["attempt"] for record in landed}
    for record in landed:
        gone_on_with = record["attempt"] < last[_past_of(record).key]
        paid = [record["verdict"]["spent"]]
        if record["reason"] not in GOES_ON or not gone_on_with:
            paid.append(record["spent"])
        for one in paid:
            if one["calls"]:
                budget.add(one["usd"], one["input_tokens"] + one["output_tokens"])
    return budget
