"""A process that plays or resumes a run over HTTP, and may meet a fault at a named point.

``python run_process.py ROOT BASE_URL play|RUN [POINT NUMBER [FAULT]]``; FAULT is ``kill`` (SIGKILL,
the default) or ``full``: from there on no file may grow. OFF=journal or OFF=landing in the
environment takes that guard away; without landing files rows also wait until a journal has gone,
so that the moment in which they matter is always met.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import run_stubs as stubs

import heldout.run.player as player
import heldout.store.ledger as store
from heldout.errors import HeldoutError
from heldout.run import play, resume
from heldout.run.journal import Journal
from heldout.run.plan import Plan
from heldout.store import Ledger

INCIDENTS = 4
POINTS = (
    "before journal",
    "after journal",
    "before landing",
    "torn landing",
    "after landing",
    "before commit",
    "after commit",
    "after forgetting",
)


def plan(root: Path, base_url: str) -> Plan:
    """The plan of every process of these tests."""
    cases = [stubs.case(root, f"i-{n}") for n in range(INCIDENTS)]
    return stubs.plan_of(cases, repeats=1, model="openai/fake", base_url=base_url)


def kill() -> None:
    """Die at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def full() -> None:
    """Let no file grow from now on; needs no small disk and no privilege."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def take_away(guard: str) -> None:
    """Play without one of the guards: what the tests of the guard must notice."""
    if guard == "journal":

        def write(self: Journal, entry: Any) -> None:
            self.entries.append(entry)

        setattr(Journal, "write", write)  # noqa: B010 - a test's own patch
    if guard == "landing":
        setattr(player, "land", lambda path, text: None)  # noqa: B010
        commit, forget, gone = Ledger._commit, Journal.forget, threading.Event()

        def late(self: Ledger, cursor: Any, groups: Any) -> None:
            if any(table == "investigations" for group in groups for table, _ in group.tables):
                gone.wait(60)
            commit(self, cursor, groups)

        def forgotten(self: Journal) -> None:
            forget(self)
            threading.Timer(0.2, gone.set).start()  # The trap goes off before the rows are safe.

        setattr(Ledger, "_commit", late)  # noqa: B010
        setattr(Journal, "forget", forgotten)  # noqa: B010


def arm_the_trap(point: str, number: int, fault: Any = kill, lands_in: Any = player) -> None:
    """Let the fault happen when this process gets to a point for the n-th time."""
    passed = 0

    def die_at(name: str) -> None:
        nonlocal passed
        if name == point:
            passed += 1
            if passed == number:
                fault()

    def around(owner: Any, name: str, before: str, after: str) -> None:
        real = getattr(owner, name)

        def wrapped(*args: Any, **more: Any) -> Any:
            die_at(before)
            result = real(*args, **more)
            die_at(after)
            return result

        setattr(owner, name, wrapped)

    around(Journal, "write", "before journal", "after journal")
    around(lands_in, "land", "before landing", "after landing")
    around(Ledger, "_commit", "before commit", "after commit")
    around(Journal, "forget", "", "after forgetting")

    real_replace = os.replace

    def replace(source: Any, target: Any) -> None:
        if str(source).endswith(".json.part") and "--" in str(source):
            die_at("torn landing")
        real_replace(source, target)

    os.replace = replace


def main(root: Path, base_url: str, what: str) -> str:
    """Play or resume; returns the run's id."""
    settings = stubs.settings_of(root)
    with Ledger.open(settings.ledger) as ledger:
        more: dict[str, Any] = {"interface": stubs.StubInterface(), "judge": stubs.judge}
        if what == "play":
            result = asyncio.run(play(plan(root, base_url), ledger, settings, **more))
        else:
            result = asyncio.run(resume(what, ledger, settings, **more))
    return result.run


if __name__ == "__main__":
    store.GATHER_SECONDS = 0.0  # Many commits, so that many moments can be met.
    take_away(os.environ.get("OFF", ""))
    if len(sys.argv) > 4:
        fault = full if sys.argv[6:] == ["full"] else kill
        arm_the_trap(sys.argv[4], int(sys.argv[5]), fault)
    try:
        print(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
    except HeldoutError as error:
        sys.exit(f"{type(error).__name__}: {error}")
