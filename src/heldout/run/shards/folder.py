"""The shared folder of a run that is cut into shards: what lies where, and how it is written.

::

    <shared folder>/<run>/
        sheet.json                 what is to be played, see heldout.run.shards.sheet
        <edition>.open             there until the run is gathered; without it nobody begins a slot
        <edition>-2-of-4.json      where one shard stands
        <edition>-2-of-4.lock      held by the worker that plays it
        journal/                   replies paid for by investigations under way
        landed/                    finished investigations, one file each
        refused/                   landing files that did not belong to the run

Files are written beside their names and renamed, so that a reader sees a whole file or none.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.errors import StoreError, UsageError
from heldout.run.crew import Progress
from heldout.run.landing import land, remove_if_empty
from heldout.run.shards.sheet import Shard, Sheet, read_sheet

_RUN = re.compile(r"[0-9a-f]{16}")
_LARGEST = 64 << 20
"""Bytes of a file that is still read: many times what an investigation takes."""


class ShardState(BaseModel):
    """Where one shard stands, as its worker last said."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    state: Literal["playing", "ended", "stopped"] = "playing"
    host: str = ""
    pid: int = 0
    done: int = 0
    total: int = 0
    passed: int = 0
    failed: int = 0
    invalid: int = 0
    in_flight: int = 0
    usd: float | None = 0.0
    why: str = ""
    """Why it ended before all was played."""

    @classmethod
    def of(cls, progress: Progress, state: Literal["playing", "ended", "stopped"]) -> ShardState:
        """This process's shard."""
        figures = {name: getattr(progress, name) for name in Progress.__slots__}
        figures.pop("eta_seconds")
        return cls(state=state, host=socket.gethostname(), pid=os.getpid(), **figures)


class Folder:
    """One run's part of a shared folder."""

    def __init__(self, share: Path, run: str) -> None:
        self.share = share
        self.run = run
        self.path = share / run
        self.landed = self.path / "landed"
        self.journals = self.path / "journal"
        self.refused = self.path / "refused"

    @classmethod
    def find(cls, share: Path, run: str = "") -> Folder:
        """The one run there whose id begins so; none or several is a :class:`UsageError`."""
        try:
            names = sorted(one.name for one in share.iterdir() if (one / "sheet.json").is_file())
        except OSError as error:
            raise UsageError(
                f"the shared folder cannot be read ({error.strerror})",
                where=str(share),
                mend="Name the folder that the run was cut into with --share",
            ) from error
        found = [name for name in names if _RUN.fullmatch(name) and name.startswith(run)]
        if len(found) != 1:
            said = f"'{run}' names no run there, or more than one" if run else "which run is meant?"
            raise UsageError(
                said, where=str(share), mend=f"Cut and not gathered: {', '.join(names) or 'none'}"
            )
        return cls(share, found[0])

    def write_sheet(self, sheet: Sheet, text: str) -> None:
        """Put a sheet there and open its edition."""
        for folder in (self.landed, self.journals):
            folder.mkdir(parents=True, exist_ok=True)
        land(self.path / "sheet.json", text, "the sheet of a run")
        land(self._marker(sheet.edition), "", "the sheet of a run")

    def sheet(self) -> Sheet | None:
        """The sheet; ``None`` where there is none, a damaged one is a ConfigError."""
        path = self.path / "sheet.json"
        data = read_small(path)
        return None if data is None else read_sheet(data, str(path))

    def is_open(self, edition: str) -> bool:
        """Whether investigations of this edition may still be begun."""
        return self._marker(edition).exists()

    def close(self, edition: str) -> None:
        """Let nobody begin another investigation of this edition."""
        self._marker(edition).unlink(missing_ok=True)

    def _marker(self, edition: str) -> Path:
        return self.path / f"{edition}.open"

    def _file(self, edition: str, shard: Shard, ending: str) -> Path:
        return self.path / f"{edition}-{shard.number}-of-{shard.of}.{ending}"

    @contextmanager
    def held(self, edition: str, shard: Shard) -> Iterator[None]:
        """Be the only one to play a shard; another worker of it is a :class:`UsageError`.

        The kernel lets go of the lock when the process dies.
        """
        fd = self._locked(edition, shard)
        if fd is None:
            state = self.state(edition, shard) or ShardState()
            raise UsageError(
                f"shard {shard} is being played by process {state.pid} on '{state.host[:80]}'",
                where=f"run {self.run}",
                mend="Take another shard, or stop that process first",
            )
        try:
            yield
        finally:
            os.close(fd)

    def _locked(self, edition: str, shard: Shard) -> int | None:
        path = self._file(edition, shard, "lock")
        fd = -1
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        except OSError as error:
            if fd >= 0:
                os.close(fd)
            raise StoreError(
                f"the shard cannot be locked ({error.strerror})",
                where=str(path),
                mend="Use a shared folder that can be written and knows locks, such as NFS 4",
            ) from error
        return fd

    def state(self, edition: str, shard: Shard) -> ShardState | None:
        """Where a shard stands; ``None`` while no worker has begun it."""
        data = read_small(self._file(edition, shard, "json"))
        if data is None:
            return None
        try:
            return ShardState.model_validate_json(data)
        except ValidationError:
            return ShardState(host="an unreadable state")

    def say(self, edition: str, shard: Shard, state: ShardState) -> None:
        """Write down where a shard stands."""
        if self.is_open(edition):
            land(
                self._file(edition, shard, "json"), state.model_dump_json(), "the state of a shard"
            )

    def playing(self, edition: str, shard: Shard) -> str:
        """Who may still be playing a shard, as words; empty when nobody is.

        A worker that died on this machine is known to have died; of others one cannot know.
        """
        state = self.state(edition, shard)
        if state is None:
            return f"shard {shard} was not begun"
        if state.state != "playing":
            return ""
        if state.host == socket.gethostname():
            fd = self._locked(edition, shard)
            if fd is not None:
                os.close(fd)
                return ""
        return f"shard {shard} is played by process {state.pid} on '{state.host[:80]}'"

    def clear(self) -> None:
        """Take away everything but what was refused and what lands late."""
        for path in self.path.glob("*"):
            if not path.is_dir():
                path.unlink(missing_ok=True)
        shutil.rmtree(self.journals, ignore_errors=True)
        for folder in (self.landed, self.path):
            remove_if_empty(folder)


def read_small(path: Path) -> bytes | None:
    """A regular file of bearable size; ``None`` where there is none.

    Another kind of file (a link, a pipe) or a huge one is a :class:`StoreError`.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, error.strerror) from error
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
        os.close(fd)
        raise _unusable(path, "it is no plain file, or too large")
    with os.fdopen(fd, "rb") as file:
        return file.read()


def _unusable(path: Path, why: str | None) -> StoreError:
    return StoreError(
        f"the file cannot be used ({why})", where=str(path), mend="Move it out of the shared folder"
    )
