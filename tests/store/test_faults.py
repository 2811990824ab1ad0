"""Full disks and killed processes: the ledger is whole, and what it said is so."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heldout.errors import StoreError
from heldout.store import Ledger

WRITER = """
import os, sys
from pathlib import Path
from heldout.errors import StoreError
from heldout.store import Ledger

path, told, limit, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
ledger = Ledger.open(path)
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
log = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
noise = os.urandom(30_000).hex()
try:
    for n in range(count):
        rows = [{"score": "s", "incident": f"{n}-{k}", "model": noise[n:n + 8000]} for k in range(3)]
        ledger.append("looks", rows, on_commit=lambda n=n: os.write(log, f"{n}\\n".encode()))
        if n % 5 == 0:
            ledger.flush()
    ledger.flush()
    print("finished")
except StoreError as error:
    print("StoreError", error)
    try:
        ledger.append("looks", [{"score": "s", "incident": "later", "model": "m"}])
        print("appended")
    except StoreError:
        print("refused")
try:
    ledger.close()
except StoreError:
    print("close failed")
"""


def write(path: Path, told: Path, limit: int = 0, count: int = 4000) -> subprocess.Popen[str]:
    """A process that appends groups of three rows and writes down which ones were committed."""
    words = [sys.executable, "-c", WRITER, str(path), str(told), str(limit), str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def committed(told: Path) -> set[str]:
    """The groups whose ``on_commit`` was called."""
    text = told.read_text() if told.exists() else ""
    return {line for line in text.splitlines(keepends=True) if line.endswith("\n")}


def check(path: Path, told: Path) -> int:
    """Every group is whole, and those that were reported are there; returns how many."""
    with Ledger.open(path) as ledger:
        rows = ledger.read("SELECT incident FROM looks")
    groups: dict[str, int] = {}
    for row in rows:
        group = row["incident"].partition("-")[0]
        groups[group] = groups.get(group, 0) + 1
    assert set(groups.values()) <= {3}, "a group was written by half"
    assert {line.strip() for line in committed(told)} <= set(groups), "a reported group is missing"
    return len(groups)


def test_a_limit_on_the_files_size_is_a_store_error(tmp_path: Path):
    """The kernel refuses to let the file grow: StoreError, no half group, none lost, no more rows."""
    path, told = tmp_path / "l.duckdb", tmp_path / "told"
    out, err = write(path, told, 2_000_000).communicate(timeout=120)
    lines = out.splitlines()
    assert lines[0].startswith("StoreError"), out + err
    assert "Free space" in lines[0]
    assert lines[1] == "refused"
    assert check(path, told) >= 1
    assert committed(told)


def test_without_a_limit_the_writer_finishes(tmp_path: Path):
    """The negative control."""
    path, told = tmp_path / "l.duckdb", tmp_path / "told"
    out, err = write(path, told, count=300).communicate(timeout=120)
    assert out == "finished\n", err
    assert check(path, told) == 300


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_really_full_disk_is_a_store_error(tmp_path: Path):
    """A file system of 3 MB in a mount namespace of its own: ENOSPC, and the file stays whole."""
    small, told, copy = tmp_path / "small", tmp_path / "told", tmp_path / "copy"
    small.mkdir()
    script = (
        f"mount -t tmpfs -o size=3m none {small} && "
        f'"{sys.executable}" -c "$WRITER" {small}/l.duckdb {told} 0 4000; cp -r {small} {copy}'
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        env={**os.environ, "WRITER": WRITER},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert done.stdout.startswith("StoreError"), done.stdout + done.stderr
    assert "refused" in done.stdout
    assert check(copy / "l.duckdb", told) >= 1


@pytest.mark.parametrize("wait", [0.02, 0.1, 0.2, 0.4, 0.8])
def test_a_killed_writer_leaves_whole_groups(tmp_path: Path, wait: float):
    """SIGKILL at five moments: what was reported is there, and nothing is there by half."""
    path, told = tmp_path / "l.duckdb", tmp_path / "told"
    running = write(path, told)
    while not told.exists() and running.poll() is None:
        time.sleep(0.01)
    time.sleep(wait)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=30)
    check(path, told)


def test_a_failed_commit_callback_is_not_lost(tmp_path: Path):
    """When what follows a commit fails, the next use says so."""

    def fail() -> None:
        raise OSError(28, "No space left on device")

    ledger = Ledger.open(tmp_path / "l.duckdb")
    ledger.append("looks", [{"score": "s", "incident": "i", "model": "m"}], on_commit=fail)
    with pytest.raises(StoreError, match="No space left"):
        ledger.flush()
    with pytest.raises(StoreError, match="No space left"):
        ledger.close()
    with Ledger.open(tmp_path / "l.duckdb") as again:
        assert again.read("SELECT count(*) AS n FROM looks") == [{"n": 1}]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    """A file where the folder should be is a StoreError with the path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="folder cannot be made"):
        Ledger.open(tmp_path / "file" / "l.duckdb")
