"""The job's memory: every step of an edit as a row, written once and read back on resuming.

Each step has a key. A step whose key the ledger knows is not taken again: its stored outcome is
used, so that a resumed job walks the same way, pays for nothing twice and ends with the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.signatures import Spent
from heldout.store import Ledger
from heldout.store.queries import edit_events


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a step stands: its key, its event's name, the edit (or empty) and the round."""

    key: str
    event: str
    edit: str = ""
    round: int = 0


class JobLog:
    """Steps of one job, backed by ``edit_events``."""

    def __init__(self, ledger: Ledger, job: str) -> None:
        self._ledger = ledger
        self.job = job
        self._known: dict[str, Any] = {}
        for row in edit_events(ledger, job=job):
            if isinstance(row.detail, dict) and "key" in row.detail:
                self._known[row.detail["key"]] = row.detail

    def known(self, key: str) -> dict[str, Any] | None:
        """The stored detail of a step, ``None`` when it was not taken yet."""
        found = self._known.get(key)
        return dict(found) if found is not None else None

    def record(
        self,
        entry: Entry,
        detail: Mapping[str, Any],
        *,
        beside: Mapping[str, list[Mapping[str, Any]]] | None = None,
    ) -> dict[str, Any]:
        """Write a step unless it stands already; returns the detail as it is stored.

        ``beside`` holds rows of other tables that belong to the step and are committed with it.
        """
        held = self.known(entry.key)
        if held is not None:
            return held
        plain: dict[str, Any] = json.loads(json.dumps({**detail, "key": entry.key}))
        row = {
            "edit": entry.edit,
            "job": self.job,
            "round": entry.round,
            "event": entry.event,
            "detail_json": plain,
        }
        self._ledger.append_group({"edit_events": [row], **(beside or {})})
        self._known[entry.key] = plain
        return dict(plain)

    async def once(
        self, entry: Entry, make: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> dict[str, Any]:
        """The stored detail of a step, or what ``make`` gives, stored and on disk."""
        held = self.known(entry.key)
        if held is not None:
            return held
        detail = self.record(entry, await make())
        await self._ledger.aflush()
        return detail

    def spent(self) -> Spent:
        """What the proposer cost so far, over all steps of the job."""
        total = Spent()
        for detail in self._known.values():
            if isinstance(detail.get("spent"), dict):
                total += Spent(**detail["spent"])
        return total
