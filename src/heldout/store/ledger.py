"""The ledger: one DuckDB file, one writing process, one writing thread, tables that only grow.

Rows are handed to a queue and committed in batches by the writing thread. Everyone else reads
through a cursor of their own thread. There is no waiting for somebody else's lock anywhere:
a loop of tries and retries around DuckDB's lock loses committed rows without an error.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import duckdb

from heldout.errors import LedgerBusy, StoreError
from heldout.store.lock import FileLock, busy
from heldout.store.migrations import MIGRATIONS
from heldout.store.rows import Columns, Row, encode_row, insert_statement
from heldout.store.secrets import Scrubber

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "default_block_size": "16384",
    "threads": "2",
    "memory_limit": "96MB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
GATHER_SECONDS = 0.05
"""How long rows that nobody waits for may gather before they are committed: planning an INSERT and
syncing the file cost the same for one row and for fifty. What has not been committed yet has landed
as a file before it was handed over."""
_CHUNK = 1000
"""Rows per INSERT: enough to spread its cost, few enough to stay within one of DuckDB's vectors."""


class _OlderLayout(StoreError):
    """A reader met a ledger that lacks migrations."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows that are committed together or not at all."""

    tables: tuple[tuple[str, list[tuple[Any, ...]]], ...]
    on_commit: Callable[[], None] | None


def now_us() -> int:
    """Now, in integer microseconds since the epoch, UTC."""
    return time.time_ns() // 1000


class Ledger:
    """An open ledger. Use it as a context manager; leaving it commits what was handed over.

    ``append`` never waits and never loses: when a write fails, that error is raised by the next
    ``append``, ``flush`` or ``close``, nothing of the failed batch is in the file, and
    ``on_commit`` of its groups was not called.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._pid = os.getpid()
        self._local = threading.local()
        self._guard = threading.Lock()
        self._failure: StoreError | None = None
        self._handed = 0
        self._settled = 0
        """Groups handed over, and groups committed or failed."""
        self._queue: queue.SimpleQueue[_Group | Future[None] | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._scrub = Scrubber()
        self._lock, self._root = _connect(path, read_only)
        try:
            self._columns = _prepare(self._root, path, read_only)
        except BaseException:
            self._root.close()
            self._lock.release()
            raise
        if not read_only:
            self._writer = threading.Thread(target=self._write, name="ledger", daemon=True)
            self._writer.start()

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Ledger:
        """Open (and, for writing, make or migrate) a ledger.

        A second writer, or a reader while another process writes, is a :class:`LedgerBusy`; a file
        that cannot be used is a :class:`StoreError`. One of an older layout is brought up to date
        first, also for a reader: what it holds is not altered.
        """
        try:
            return cls(path, read_only=read_only)
        except _OlderLayout:
            cls(path).close()
            return cls(path, read_only=read_only)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except StoreError:
            if error is None:
                raise

    def append(
        self,
        table: str,
        rows: Iterable[Row],
        *,
        on_commit: Callable[[], None] | None = None,
    ) -> None:
        """Hand over rows of one table; see :meth:`append_group`."""
        self.append_group({table: rows}, on_commit=on_commit)

    def append_group(
        self,
        tables: Mapping[str, Iterable[Row]],
        *,
        on_commit: Callable[[], None] | None = None,
    ) -> None:
        """Hand over rows of several tables that are committed together or not at all.

        A column left out is NULL; ``at``, ``created`` and ``started`` left out are set to now; in
        ``*_json`` columns plain data is turned into text. Rows whose key is already there are
        passed over (``rows.KEYS``). ``on_commit`` is called in the writing thread once the rows
        are on disk. A column or type that does not fit raises here, before anything is queued.
        """
        self._check()
        if self.read_only:
            raise StoreError(
                "the ledger is open for reading only", where=str(self.path), mend="Open it to write"
            )
        stamp = now_us()
        encoded = tuple(
            (table, [encode_row(table, self._of(table), row, stamp, self._scrub) for row in rows])
            for table, rows in tables.items()
        )
        with self._guard:
            self._handed += 1
            self._queue.put(_Group(encoded, on_commit))

    def flush(self) -> None:
        """Wait until everything handed over so far is on disk, or raise why it is not."""
        self._flush_future().result()

    async def aflush(self) -> None:
        """:meth:`flush` for a coroutine: the event loop goes on meanwhile."""
        await asyncio.wrap_future(self._flush_future())

    def read(self, sql: str, params: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of one SELECT, as dicts by column name, after a flush: one reads one's writes.

        May be called from any thread; each has its own cursor.
        """
        if not sql.lstrip().upper().startswith(("SELECT", "WITH", "FROM", "DESCRIBE")):
            raise StoreError("only SELECT reads the ledger", mend="Use append to write")
        self.flush()
        cursor = self._cursor()
        try:
            cursor.execute(sql, list(params))
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except duckdb.Error as error:
            raise StoreError(
                f"the ledger cannot be read ({_first_line(error)})",
                where=str(self.path),
                mend="Restore it from a backup if this goes on",
            ) from error

    def columns(self, table: str) -> tuple[str, ...]:
        """The names of a table's columns, in order."""
        return tuple(self._of(table))

    def close(self) -> None:
        """Commit what was handed over, stop the writer, let go of the file; twice does nothing."""
        if self._lock.released or os.getpid() != self._pid:
            return  # A forked child that let go of the lock would take it from its parent.
        failure = self._failure
        if self._writer is not None:
            self._queue.put(None)
            self._writer.join()
            failure = self._failure
        try:
            self._root.close()
        except duckdb.Error as error:
            failure = failure or self._failed(error)
        finally:
            self._lock.release()
        if failure is not None:
            raise failure

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._lock.released:
            raise StoreError("the ledger is closed", where=str(self.path), mend="Open it again")
        if os.getpid() != self._pid:
            raise StoreError(
                "the ledger was opened before a fork",
                where=str(self.path),
                mend="Hand records to the process that opened it",
            )

    def _of(self, table: str) -> Columns:
        try:
            return self._columns[table]
        except KeyError as error:
            raise StoreError(
                f"the ledger has no table '{table}'", mend=f"It has {', '.join(self._columns)}"
            ) from error

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = getattr(self._local, "cursor", None)
        if cursor is None:
            with self._guard:  # The root connection refuses to be used by two threads at once.
                cursor = self._root.cursor()
            self._local.cursor = cursor
        return cast(duckdb.DuckDBPyConnection, cursor)

    def _flush_future(self) -> Future[None]:
        self._check()
        done: Future[None] = Future()
        if self._settled == self._handed:
            self._check()  # What was settled last may have failed.
            done.set_result(None)
        else:
            self._queue.put(done)
        return done

    def _write(self) -> None:
        """The writing thread: drain the queue, commit as one transaction, tell who waits."""
        cursor = self._cursor()
        stop = False
        while not stop:
            items = self._gathered()
            groups = [item for item in items if isinstance(item, _Group)]
            if groups and self._failure is None:
                self._commit(cursor, groups)
            self._settled += len(groups)
            for item in items:
                if isinstance(item, Future):
                    self._answer(item)
            stop = None in items
        cursor.close()

    def _gathered(self) -> list[_Group | Future[None] | None]:
        """What one transaction takes: the groups of a short while, unless somebody waits."""
        items = [self._queue.get()]
        until = time.monotonic() + GATHER_SECONDS
        while True:
            hurry = not isinstance(items[-1], _Group)
            try:
                wait = 0.0 if hurry else max(0.0, until - time.monotonic())
                items.append(self._queue.get(timeout=wait) if wait else self._queue.get_nowait())
            except queue.Empty:
                return items

    def _answer(self, waiting: Future[None]) -> None:
        if not waiting.set_running_or_notify_cancel():
            return
        if self._failure is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(self._failure)

    def _commit(self, cursor: duckdb.DuckDBPyConnection, groups: list[_Group]) -> None:
        try:
            cursor.begin()
            merged: dict[str, list[tuple[Any, ...]]] = {}
            for group in groups:
                for table, rows in group.tables:
                    merged.setdefault(table, []).extend(rows)
            for table, rows in merged.items():
                for first in range(0, len(rows), _CHUNK):
                    sql, params = insert_statement(
                        table, self._columns[table], rows[first : first + _CHUNK]
                    )
                    cursor.execute(sql, params)
            cursor.commit()
        except (duckdb.Error, OSError, MemoryError) as error:
            self._failure = self._failed(error)
            try:
                cursor.rollback()
            except duckdb.Error:
                return  # DuckDB closes itself after a failed write; the file is as before.
            return
        for group in groups:
            if group.on_commit is not None:
                try:
                    group.on_commit()
                except OSError as error:
                    self._failure = self._failed(error)

    def _failed(self, error: BaseException) -> StoreError:
        failure = StoreError(
            f"the ledger could not be written ({_first_line(error)})",
            where=str(self.path),
            mend="Free space on the disk and run 'heldout resume'; finished work is kept in "
            "the landing folder",
        )
        failure.__cause__ = error
        return failure


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def _connect(path: Path, read_only: bool) -> tuple[FileLock, duckdb.DuckDBPyConnection]:
    if read_only and not path.is_file():
        raise StoreError(
            "there is no ledger yet", where=str(path), mend="Run 'heldout tune' or 'heldout run'"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the ledger's folder cannot be made ({error.strerror})",
            where=str(path.parent),
            mend="Check the permissions and the free space",
        ) from error
    lock = FileLock(path, shared=read_only)
    try:
        root = duckdb.connect(str(path), read_only=read_only, config=_CONFIG)
    except duckdb.Error as error:
        lock.release()
        raise _unopened(path, error) from error
    except BaseException:
        lock.release()
        raise
    return lock, root


def _unopened(path: Path, error: duckdb.Error) -> StoreError:
    text = str(error)
    if "Conflicting lock" in text or "Could not set lock" in text:
        _, _, rest = text.partition("(PID ")
        pid = rest.partition(")")[0]
        return busy(path, pid if pid.isdigit() else "")
    return StoreError(
        f"the ledger cannot be opened ({_first_line(error)})",
        where=str(path),
        mend="Free space, restore the file from a backup, or move it away to begin a new one",
    )


def _prepare(root: duckdb.DuckDBPyConnection, path: Path, read_only: bool) -> dict[str, Columns]:
    """Apply what is missing and return every table's columns."""
    try:
        if not read_only:
            root.execute(
                "CREATE TABLE IF NOT EXISTS migrations"
                ' (number INTEGER NOT NULL, name VARCHAR NOT NULL, "at" BIGINT NOT NULL)'
            )
        done = {row[0] for row in root.execute("SELECT number FROM migrations").fetchall()}
        missing = [step for step in MIGRATIONS if step.number not in done]
        if done - {step.number for step in MIGRATIONS}:
            raise StoreError(
                "the ledger was written by a newer heldout", where=str(path), mend="Update heldout"
            )
        if missing and read_only:
            raise _OlderLayout("the ledger has an older layout", where=str(path))
        for step in missing:
            root.begin()
            for statement in step.statements:
                root.execute(statement)
            root.execute(
                "INSERT INTO migrations VALUES (?, ?, ?)", [step.number, step.name, now_us()]
            )
            root.commit()
        found = root.execute(
            "SELECT table_name, column_name, data_type, is_nullable = 'YES'"
            " FROM information_schema.columns ORDER BY table_name, ordinal_position"
        ).fetchall()
    except duckdb.Error as error:
        raise _unopened(path, error) from error
    columns: dict[str, Columns] = {}
    for table, column, kind, nullable in found:
        columns.setdefault(table, {})[column] = (kind, nullable)
    return columns


__all__ = ["Ledger", "LedgerBusy", "now_us"]
