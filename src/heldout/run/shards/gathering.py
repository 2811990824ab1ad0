"""Bringing into the ledger what a run's workers landed, and refusing what is not of the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from heldout.errors import ConfigError, StoreError, UsageError
from heldout.run.landing import Ingest, land
from heldout.run.plan import Plan
from heldout.run.records import Record, load_record
from heldout.run.shards.folder import Folder, read_small
from heldout.run.shards.sheet import Shard
from heldout.run.slots import Slot, slots
from heldout.run.standing import SlotKey
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store import queries as stored
from heldout.terminal import visible

CUT, GATHERED = "cut", "gathered"
"""States of a run in the ledger: its shards may be played; what they landed was brought in."""


@dataclass(slots=True)
class Gathered:
    """What came back from a run's workers."""

    attempts: set[tuple[SlotKey, int]] = field(default_factory=set)
    """The attempts that they made, as (slot, number)."""
    taken_over: list[str] = field(default_factory=list)
    """Shards that had not ended, as sentences."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Landing files that are not of this run: where they lie now, and why."""

    def notes(self) -> list[str]:
        """What a person should know of it."""
        notes = []
        if self.taken_over:
            notes.append(f"taken over here: {'; '.join(self.taken_over)}")
        notes += [f"refused {path}: {why}" for path, why in self.refused]
        return notes


class Cut(NamedTuple):
    """Where the shards of a run are, as the ledger says."""

    folder: Folder
    edition: str
    """Empty once it was gathered: what lands then is late."""
    shards: int


def cut_of(ledger: Ledger, settings: Settings, run: str) -> Cut | None:
    """Where a run's shards are; ``None`` when it was never cut or nothing is left of it."""
    events = ledger.read(
        "SELECT status, detail_json FROM run_events WHERE run = ? AND status IN (?, ?)"
        " ORDER BY rowid DESC LIMIT 1",
        [run, CUT, GATHERED],
    )
    if not events:
        return None
    said = json.loads(events[0]["detail_json"])
    folder = Folder(settings.root / said["share"], run)
    if events[0]["status"] == GATHERED:
        return Cut(folder, "", 0) if folder.path.is_dir() else None
    return Cut(folder, said["edition"], said["shards"])


def gather(
    ledger: Ledger, settings: Settings, run: str, plan: Plan, *, take_over: bool = False
) -> Gathered:
    """Bring in what a run's workers landed, and end its being cut; a run that is not cut is as is.

    A shard that may still be played is a :class:`UsageError`, unless ``take_over`` says to play
    here what it has not landed; its worker then begins nothing more. A file that does not belong to
    this run, this plan or this cut is moved to ``refused/`` and named, and so is one that cannot be
    read; the rest is brought in.
    """
    found = Gathered()
    cut = cut_of(ledger, settings, run)
    if cut is None:
        return found
    folder = cut.folder
    if cut.edition:
        if not folder.landed.is_dir() and not take_over:
            raise ConfigError(
                "the shared folder of the run's shards is not there",
                where=str(folder.path),
                mend=f"Mount it; or play again what it may hold with 'heldout resume {run[:8]} "
                "--take-over'",
            )
        found.taken_over = _unfinished(cut, take_over=take_over)
        folder.close(cut.edition)
        move_journals(folder.journals, settings.state / "journal" / run)
    _Reader(ledger, cut, plan, found).read()
    if cut.edition or found.refused:
        detail = {
            "share": relative(folder.share, settings.root),
            "landed": len(found.attempts),
            "taken_over": found.taken_over,
            "refused": found.refused,
        }
        ledger.append("run_events", [{"run": run, "status": GATHERED, "detail_json": detail}])
        ledger.flush()
    folder.clear()
    return found


def relative(path: Path, root: Path) -> str:
    """Relative to the project where possible, so that a moved project is still understood."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def move_journals(source: Path, target: Path) -> None:
    """Take journals of investigations under way to where they are gone on with.

    They are copied before they go: a late worker may still be writing to the old ones.
    """
    for path in sorted(source.glob("*.jsonl")):
        with suppress(StoreError):  # A link or a pipe is no journal.
            data = read_small(path)
            if data is not None:
                land(target / path.name, data.decode("utf-8", "replace"), "a journal")
        path.unlink(missing_ok=True)


def _unfinished(cut: Cut, *, take_over: bool) -> list[str]:
    """The shards that may still be played, as sentences."""
    if not cut.folder.is_open(cut.edition):
        return []  # An earlier gathering was stopped midway.
    shards = [Shard(number + 1, cut.shards) for number in range(cut.shards)]
    states = [cut.folder.playing(cut.edition, shard) for shard in shards]
    found = [visible(state) for state in states if state]
    if found and not take_over:
        raise UsageError(
            "; ".join(found),
            where=f"run {cut.folder.run}",
            mend=f"Wait until every shard has ended, or play the rest here with 'heldout resume "
            f"{cut.folder.run[:8]} --take-over'",
        )
    return found


class _Reader:
    """Reads the landed files of one run, each checked against its plan."""

    def __init__(self, ledger: Ledger, cut: Cut, plan: Plan, found: Gathered) -> None:
        self._ledger = ledger
        self._ingest = Ingest(ledger)
        self._folder = cut.folder
        self._plan = plan
        self._digest = plan.digest()
        self._edition = cut.edition
        self._slots = {slot.key: slot for slot in slots(plan)}
        self._stored = {
            (row.incident, row.arm, row.repeat, row.attempt): (row.started, row.ended)
            for row in stored.investigations(ledger, cut.folder.run)
        }
        self._found = found

    def read(self) -> None:
        """Bring in what belongs, move away what does not."""
        for part in self._folder.landed.glob("*.part"):
            part.unlink(missing_ok=True)
        for path in sorted(self._folder.landed.glob("*")):
            why = self._take(path)
            if why:
                self._refuse(path, why)
        self._ledger.flush()

    def _take(self, path: Path) -> str:
        """Bring in one file, or say why not."""
        try:
            data = read_small(path)
            if data is None:
                return ""  # Somebody took it away.
            record = load_record(data, str(path))
            why = self._strange(record)
        except StoreError as error:
            return error.what
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return f"it is no finished investigation ({type(error).__name__})"
        return why or self._add(record, partial(path.unlink, missing_ok=True))

    def _add(self, record: Record, on_commit: Callable[[], None]) -> str:
        try:
            self._ingest.add(record, on_commit=on_commit)
        except StoreError as error:
            self._ledger.flush()  # Raises where it is the ledger that failed, not the record.
            return error.what
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return f"it is no finished investigation ({type(error).__name__})"
        key = (record["incident"], record["arm"], record["repeat"])
        self._stored[*key, record["attempt"]] = (record["started"], record["ended"])
        self._found.attempts.add((key, record["attempt"]))
        return ""

    def _strange(self, record: Record) -> str:
        """Why a record does not belong to this run; empty when it does."""
        key: Any = (record["incident"], record["arm"], record["repeat"])
        slot = self._slots.get(key)
        if record["run"] != self._folder.run:
            return f"it is of run {record['run']}"
        if record.get("plan") != self._digest:
            return "it was played by another plan"
        if slot is None:
            return "the run has no such slot"
        for what, said, own in self._facts(record, slot):
            if said != own or type(said) is not type(own):
                return f"its {what} is {said!r}, the run's is {own!r}"
        if type(record["attempt"]) is not int or not 0 <= record["attempt"] < 1000:
            return f"it cannot be attempt {record['attempt']!r}"
        if record["verdict"]["result"] not in ("pass", "fail", "invalid"):
            return f"its verdict is {record['verdict']['result']!r}"
        times = self._stored.get((*key, record["attempt"]))
        if times is not None and times != (record["started"], record["ended"]):
            return "this investigation was finished by another process meanwhile"
        if times is None and record.get("edition") != self._edition:
            return "it comes from an earlier cut of the run, or late"
        return ""

    def _facts(self, record: Record, slot: Slot) -> list[tuple[str, Any, Any]]:
        incident = slot.case.incident
        return [
            ("brain", record["brain"], slot.arm.brain.hash),
            ("world", record["world"], incident.digest),
            ("model", record["model"], self._plan.model),
            ("seed", record["seed"], slot.seed),
        ]

    def _refuse(self, path: Path, why: str) -> None:
        self._folder.refused.mkdir(parents=True, exist_ok=True)
        target = self._folder.refused / path.name
        number = 1
        while target.exists() or target.is_symlink():
            number += 1
            target = self._folder.refused / f"{path.name}.{number}"
        path.rename(target)
        self._found.refused.append((visible(target), visible(why, 300)))
