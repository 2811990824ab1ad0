"""The journals of investigations under way: one file each, one line for every reply paid for."""

from __future__ import annotations

import errno
import os
from concurrent.futures import Executor
from pathlib import Path

from heldout.agent.journal import JournalEntry
from heldout.errors import StoreError
from heldout.store import Scrubber


class Journal:
    """One investigation's journal. Read only to resume that investigation.

    A line is written before the reply is used, so it outlives a killed process. ``syncer`` brings
    it to the disk soon after, off the event loop; without one (a simulated model, whose replies
    cost nothing) that is left to the system.
    """

    def __init__(self, path: Path, syncer: Executor | None, scrub: Scrubber) -> None:
        self.path = path
        self.entries: list[JournalEntry] = []
        self.broken = False
        """True once a line could not be written: what is there must be kept."""
        self._syncer = syncer
        self._scrub = scrub
        self._fd = -1
        self._length = 0

    def read(self) -> tuple[JournalEntry, ...]:
        """What an earlier process left, into ``entries``; a torn line and all behind it is dropped.

        Call it once, before anything is written.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _unwritable(self.path, error) from error
        for line in data.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            try:
                entry = JournalEntry.from_json(line)
            except StoreError:
                break
            if entry.index != len(self.entries):
                break
            self.entries.append(entry)
            self._length += len(line)
        return tuple(self.entries)

    def write(self, entry: JournalEntry) -> None:
        """Append one reply; a full disk is a :class:`StoreError`."""
        line = self._scrub(entry.to_json()).encode() + b"\n"
        try:
            if self._fd < 0:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
                os.ftruncate(self._fd, self._length)
                os.lseek(self._fd, self._length, os.SEEK_SET)
            written = os.write(self._fd, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self.broken = True
            raise _unwritable(self.path, error) from error
        self._length += len(line)
        self.entries.append(entry)
        if self._syncer is not None:
            self._syncer.submit(_sync, os.dup(self._fd))

    def forget(self) -> None:
        """Take the file away: the investigation has landed, or it starts afresh."""
        self.close()
        self.path.unlink(missing_ok=True)
        self.entries.clear()
        self._length = 0

    def hand_on(self, path: Path) -> None:
        """Keep the file for another attempt, which then goes on where this one was stopped."""
        self.close()
        if self.path.exists():
            self.path.replace(path)

    def close(self) -> None:
        """Close the file and leave it where it is."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _sync(fd: int) -> None:
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"an investigation's journal cannot be written or read ({error.strerror})",
        where=str(path),
        mend="Free space on the disk and run 'heldout resume'",
    )
