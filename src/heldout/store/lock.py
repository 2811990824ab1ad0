"""Who may hold the ledger's file: one writing process, or any number of reading ones."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from heldout.errors import LedgerBusy, StoreError

_MEND = "Wait until it ends, or stop it; a job that is still running makes its own reports"


class FileLock:
    """An advisory lock on ``<ledger>.lock``; the kernel lets go of it when the process dies.

    DuckDB has a lock of its own. This one also stops a second writer within this process, and it
    names the holder. It never waits: retrying until the lock is free loses rows in silence.
    """

    def __init__(self, ledger: Path, *, shared: bool) -> None:
        self.path = ledger.with_name(ledger.name + ".lock")
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._fd = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise StoreError(
                f"the ledger's lock file cannot be opened ({error.strerror})",
                where=str(self.path),
                mend="Check the folder's permissions and its free space",
            ) from error
        try:
            fcntl.flock(self._fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            holder = self._holder()
            os.close(self._fd)
            raise busy(ledger, holder) from error
        if not shared:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, str(os.getpid()).encode(), 0)

    def _holder(self) -> str:
        text = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip()
        return text if text.isdigit() else ""

    @property
    def released(self) -> bool:
        """True once it was let go."""
        return self._fd < 0

    def release(self) -> None:
        """Let go; a second call does nothing."""
        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = -1


def busy(ledger: Path, pid: str) -> LedgerBusy:
    """The error for a ledger that another process (or another part of this one) holds."""
    if pid == str(os.getpid()):
        what = "this process has already opened the ledger"
        return LedgerBusy(what, where=str(ledger), mend="Hand on the ledger that is open")
    what = f"process {pid} is using the ledger" if pid else "another process is using the ledger"
    return LedgerBusy(what, where=str(ledger), mend=_MEND)
