"""The ledger: one writer, append-only, nothing half-written, no secret in it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import heldout.store
from heldout.errors import LedgerBusy, StoreError
from heldout.store import Ledger
from heldout.store.migrations import MIGRATIONS
from heldout.store.rows import KEYS

HOLD = """
import sys, time
from pathlib import Path
from heldout.store import Ledger
with Ledger.open(Path(sys.argv[1]), read_only=sys.argv[2] == "read") as ledger:
    print("open", flush=True)
    sys.stdin.readline()
"""


def hold(path: Path, how: str) -> subprocess.Popen[str]:
    """A process that has opened the ledger and keeps it."""
    running = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "open\n"
    return running


def let_go(running: subprocess.Popen[str]) -> None:
    """End such a process."""
    running.communicate("\n", timeout=30)


def look(n: int) -> dict[str, Any]:
    """A row of table ``looks``."""
    return {"score": "s", "incident": f"i-{n}", "model": "m"}


def test_a_second_writing_process_is_refused_with_the_first_ones_pid(tmp_path: Path):
    """LedgerBusy names who holds the ledger and what to do; afterwards it opens."""
    path = tmp_path / "ledger.duckdb"
    running = hold(path, "write")
    try:
        with pytest.raises(LedgerBusy, match=str(running.pid)) as error:
            Ledger.open(path)
        assert "Wait until it ends" in error.value.mend
        with pytest.raises(LedgerBusy, match=str(running.pid)):
            Ledger.open(path, read_only=True)
    finally:
        let_go(running)
    Ledger.open(path).close()


def test_a_killed_writer_leaves_no_lock(tmp_path: Path):
    """The kernel lets go of a dead process's lock, so nothing has to be cleaned up."""
    path = tmp_path / "ledger.duckdb"
    running = hold(path, "write")
    running.send_signal(signal.SIGKILL)
    running.wait()
    Ledger.open(path).close()


def test_readers_share_and_keep_a_writer_out(tmp_path: Path):
    """Two readers at once are fine; a writer beside a reader is not."""
    path = tmp_path / "ledger.duckdb"
    Ledger.open(path).close()
    running = hold(path, "read")
    try:
        with Ledger.open(path, read_only=True) as ledger:
            assert ledger.read("SELECT count(*) AS n FROM looks") == [{"n": 0}]
            with pytest.raises(StoreError, match="reading only"):
                ledger.append("looks", [look(1)])
        with pytest.raises(LedgerBusy):
            Ledger.open(path)
    finally:
        let_go(running)


def test_a_foreign_program_in_the_file_is_named_too(tmp_path: Path):
    """Whoever holds DuckDB's own lock is named by its pid."""
    path = tmp_path / "ledger.duckdb"
    Ledger.open(path).close()
    code = (
        "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('open', flush=True);"
        " sys.stdin.readline()"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    running.stdout.readline()
    try:
        with pytest.raises(LedgerBusy, match=str(running.pid)):
            Ledger.open(path)
    finally:
        let_go(running)


def test_opening_twice_in_one_process_is_refused(tmp_path: Path):
    """DuckDB would allow it and share one database; two writing threads must not be."""
    with (
        Ledger.open(tmp_path / "l.duckdb"),
        pytest.raises(LedgerBusy, match="this process has already opened"),
    ):
        Ledger.open(tmp_path / "l.duckdb")


def test_reading_what_is_not_there_is_an_error(tmp_path: Path):
    """No ledger, no empty one made by mistake."""
    with pytest.raises(StoreError, match="no ledger yet"):
        Ledger.open(tmp_path / "l.duckdb", read_only=True)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path):
    """Something else under that name is not overwritten."""
    path = tmp_path / "l.duckdb"
    path.write_text("this is no database" * 1000)
    with pytest.raises(StoreError, match="cannot be opened"):
        Ledger.open(path)
    assert path.read_text().startswith("this is no database")


def test_a_newer_ledger_is_refused(tmp_path: Path):
    """A migration that this heldout does not know means that a newer one wrote the file."""
    path = tmp_path / "l.duckdb"
    Ledger.open(path).close()
    con = duckdb.connect(str(path))
    con.execute("INSERT INTO migrations VALUES (999, 'future', 1)")
    con.close()
    with pytest.raises(StoreError, match="newer heldout"):
        Ledger.open(path)


@pytest.mark.parametrize("read_only", [False, True])
def test_an_older_ledger_is_brought_up_to_date_once(tmp_path: Path, read_only: bool):
    """An empty database gets every migration, also where somebody only wants to read it."""
    path = tmp_path / "l.duckdb"
    con = duckdb.connect(str(path))
    con.execute("CREATE TABLE migrations (number INTEGER, name VARCHAR, at_us BIGINT)")
    con.execute('ALTER TABLE migrations RENAME at_us TO "at"')
    con.close()
    for _ in range(2):
        with Ledger.open(path, read_only=read_only) as ledger:
            assert ledger.read_only is read_only
            done = [row["number"] for row in ledger.read("SELECT number FROM migrations")]
            assert done == [step.number for step in MIGRATIONS]
    assert [step.number for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_rows_are_there_after_closing_and_in_order(tmp_path: Path):
    """What was appended is read back in the order of appending."""
    path = tmp_path / "l.duckdb"
    with Ledger.open(path) as ledger:
        for n in range(250):
            ledger.append("jobs", [{"job": f"j{n}", "kind": "tune", "status": "started"}])
    with Ledger.open(path, read_only=True) as ledger:
        found = [row["job"] for row in ledger.read("SELECT job FROM jobs ORDER BY rowid")]
    assert found == [f"j{n}" for n in range(250)]


def test_one_reads_ones_own_writes(tmp_path: Path):
    """A read sees everything appended before it."""
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        for n in range(20):
            ledger.append("looks", [look(n)])
            assert ledger.read("SELECT count(*) AS n FROM looks") == [{"n": n + 1}]


def test_keyed_rows_are_kept_once(tmp_path: Path):
    """The first row of a key stays, within one batch and across batches and openings."""
    path = tmp_path / "l.duckdb"
    for at in (1, 2):
        with Ledger.open(path) as ledger:
            ledger.append("looks", [{**look(1), "at": at}, {**look(1), "at": 9}])
            ledger.append("looks", [{**look(1), "at": 10}, {**look(2), "at": at}])
    with Ledger.open(path) as ledger:
        rows = ledger.read('SELECT incident, "at" FROM looks ORDER BY incident')
        assert rows == [{"incident": "i-1", "at": 1}, {"incident": "i-2", "at": 1}]
        assert set(KEYS) <= set(ledger._columns)


def test_rows_without_a_key_are_all_kept(tmp_path: Path):
    """The negative control: a decision may be given twice."""
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        row = {"proposal": "p", "diff_hash": "d", "action": "accept"}
        ledger.append("decisions", [row, row])
        assert ledger.read("SELECT count(*) AS n FROM decisions") == [{"n": 2}]


@pytest.mark.parametrize(
    ("table", "row", "match"),
    [
        ("nonsense", {"a": 1}, "no table 'nonsense'"),
        ("looks", {**look(1), "colour": "red"}, "colour"),
        ("looks", {"score": "s", "incident": "i"}, "model"),
        ("looks", {**look(1), "model": 7}, "int is not VARCHAR"),
        ("looks", {**look(1), "at": True}, "bool is not BIGINT"),
        ("looks", {**look(1), "at": 1.5}, "float is not BIGINT"),
        ("jobs", {"job": "j", "kind": "k", "status": "s", "detail_json": {1, 2}}, "plain data"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_before_it_is_queued(
    tmp_path: Path, table: str, row: dict[str, Any], match: str
):
    """The mistake is raised where it is made, and the rest of the group is not written either."""
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        with pytest.raises(StoreError, match=match):
            ledger.append_group({"looks": [look(5)], table: [row]})
        ledger.append("looks", [look(6)])
        assert ledger.read("SELECT incident FROM looks") == [{"incident": "i-6"}]


def test_only_select_reads(tmp_path: Path):
    """Nobody writes past the writer."""
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        for sql in ("DELETE FROM looks", "  update looks set model = ''", "DROP TABLE looks"):
            with pytest.raises(StoreError, match="only SELECT"):
                ledger.read(sql)


def test_hostile_text_is_kept(tmp_path: Path):
    """Quotes, NUL, ANSI, HTML and half surrogates neither break the statement nor vanish."""
    texts = ["'); DROP TABLE looks; --", "a\x00b", "\x1b[31mred", "<script>", "x" * 500_000]
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        for n, text in enumerate([*texts, "half \ud800 pair"]):
            ledger.append("releases", [{"brain_hash": str(n), "action": "release", "reason": text}])
        rows = ledger.read("SELECT reason FROM releases ORDER BY rowid")
        assert [row["reason"] for row in rows] == [*texts, "half ? pair"]


def test_many_threads_append_and_read(tmp_path: Path):
    """Each thread has its own cursor; no row is lost and nobody is told that it is busy."""
    errors: list[BaseException] = []
    with Ledger.open(tmp_path / "l.duckdb") as ledger:

        def work(mine: int) -> None:
            try:
                for n in range(40):
                    ledger.append("looks", [look(1000 * mine + n)])
                    if n % 10 == 0:
                        ledger.read("SELECT count(*) AS n FROM looks")
            except BaseException as error:  # noqa: BLE001 - handed to the asserting thread
                errors.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert ledger.read("SELECT count(*) AS n FROM looks") == [{"n": 320}]


@pytest.mark.parametrize(("seconds", "few"), [(5.0, True), (0.0, False)])
def test_rows_that_nobody_waits_for_share_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, few: bool
):
    """They gather; whoever waits does not wait for that. Without gathering each has its own."""
    commits: list[int] = []
    real = Ledger._commit

    def commit(self: Ledger, cursor: Any, groups: list[Any]) -> None:
        commits.append(len(groups))
        real(self, cursor, groups)

    monkeypatch.setattr("heldout.store.ledger.GATHER_SECONDS", seconds)
    monkeypatch.setattr(Ledger, "_commit", commit)
    seen: list[int] = []
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        for n in range(20):
            ledger.append("looks", [look(n)], on_commit=lambda n=n: seen.append(n))  # type: ignore[misc]
            if not few:
                while len(seen) <= n:  # Committed with nobody asking for it.
                    time.sleep(0.001)
        assert len(ledger.read("SELECT * FROM looks")) == 20, "a reader does not wait five seconds"
    assert seen == list(range(20))
    assert sum(commits) == 20
    assert (len(commits) < 3) is few


def test_a_coroutine_can_wait_for_the_disk(tmp_path: Path):
    """``aflush`` returns once rows are committed."""
    done: list[int] = []

    async def main(ledger: Ledger) -> None:
        ledger.append("looks", [look(1)], on_commit=lambda: done.append(1))
        await ledger.aflush()
        assert done == [1]

    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        asyncio.run(main(ledger))


def test_a_forked_child_may_not_use_the_ledger(tmp_path: Path):
    """A fork shares the file's lock but not the writing thread, so it is refused."""
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        pid = os.fork()
        if pid == 0:
            try:
                ledger.append("looks", [look(1)])
            except StoreError:
                ledger.close()
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        running = subprocess.run(
            [sys.executable, "-c", HOLD, str(ledger.path), "write"],
            input="\n", capture_output=True, text=True,
        )  # fmt: skip
        assert "LedgerBusy" in running.stderr, "the child's close did not take the lock away"


def test_a_closed_ledger_says_so(tmp_path: Path):
    """Closing twice is fine; using it afterwards is an error."""
    ledger = Ledger.open(tmp_path / "l.duckdb")
    ledger.close()
    ledger.close()
    for use in (lambda: ledger.append("looks", [look(1)]), lambda: ledger.read("SELECT 1")):
        with pytest.raises(StoreError, match="closed"):
            use()


def test_secrets_of_the_environment_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A key's value is replaced by its variable's name wherever text is stored."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    monkeypatch.setenv("MY_TOKEN", 'quo"ted-secret')
    monkeypatch.setenv("SHORT_API_KEY", "none")
    path = tmp_path / "l.duckdb"
    with Ledger.open(path) as ledger:
        detail = {"error": "bad key sk-very-secret-key", "none": "none"}
        ledger.append("jobs", [{"job": "j", "kind": "k", "status": "s", "detail_json": detail}])
        row = {"brain_hash": "b", "action": "a", "reason": 'sk-very-secret-key quo"ted-secret'}
        ledger.append("releases", [row])
        ledger.flush()
        files = [one for one in tmp_path.iterdir() if one.is_file()]
        assert not [one for one in files if b"very-secret" in one.read_bytes()]
        stored = ledger.read("SELECT reason FROM releases")[0]["reason"]
        assert stored == "[secret OPENAI_API_KEY] [secret MY_TOKEN]"
        assert '"none": "none"' in ledger.read("SELECT detail_json FROM jobs")[0]["detail_json"]
    assert b"very-secret" not in path.read_bytes()
    assert b"OPENAI_API_KEY" in path.read_bytes()
    assert heldout.store.Scrubber()('{"a": "quo\\"ted-secret"}') == '{"a": "[secret MY_TOKEN]"}'


def test_nothing_in_the_store_retries_a_lock():
    """Retrying around DuckDB's lock loses rows, so no file of this room sleeps or retries."""
    folder = Path(heldout.store.__file__).parent
    for path in folder.rglob("*.py"):
        code = path.read_text()
        assert "sleep(" not in code, path
        assert "tenacity" not in code, path
