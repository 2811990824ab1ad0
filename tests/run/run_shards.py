"""Cutting a run, playing its shards and gathering them, in this process or in others.

As a program: ``run_shards.py ROOT BASE_URL cut|resume|RUN [SHARD [POINT NUMBER]]``: cuts the plan
of the fault tests in three, resumes, or plays a shard, and may be killed at a named point.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import run_process as process
import run_stubs as stubs

import heldout.run.shards.worker as worker_room
import heldout.store.ledger as store
from heldout.errors import HeldoutError
from heldout.run import Caps, Outcome, Plan, RunResult, cut, resume
from heldout.run.history import StoredTrace
from heldout.run.opening import Given
from heldout.run.shards import (
    Allowed,
    CutRun,
    Cutting,
    Folder,
    Shard,
    ShardState,
    Worker,
    plan_of_sheet,
)
from heldout.store import Ledger

INCIDENTS = process.INCIDENTS


def given(client: Any = None) -> Given:
    """The stub environment and judge, and a client where not the plan's own."""
    factory = None if client is None else lambda _: client
    return Given(stubs.StubInterface(), factory, stubs.judge)


def cut_up(
    root: Path, plan: Plan | str, shards: int = 3, client: Any = None, **more: Any
) -> CutRun:
    """Cut a plan, or what a run lacks; the shared folder lies beside the project."""
    settings = stubs.settings_of(root)
    cutting = Cutting(shards, root / "shared", more.pop("caps", Caps()), **more)
    with Ledger.open(settings.ledger) as ledger:
        return asyncio.run(cut(plan, ledger, settings, cutting=cutting, given=given(client)))


def work(
    root: Path,
    run: str,
    shard: str,
    client: Any = None,
    *,
    elsewhere: Path | None = None,
    base_url: str = "",
) -> ShardState:
    """Play one shard with the incidents and settings of a project, this one or ``elsewhere``."""
    home = elsewhere or root
    folder = Folder.find(root / "shared", run)
    sheet = folder.sheet()
    assert sheet is not None
    plan = plan_of_sheet(
        sheet,
        lambda name: [stubs.case(home, f"i-{n}") for n in range(INCIDENTS)],
        stubs.settings_of(home),
        stubs.StubInterface(),
        Allowed(base_url),
    )
    worker = Worker(folder, sheet, Shard.parse(shard), plan)
    return asyncio.run(worker.play(stubs.settings_of(home), given(client)))


def gather_up(root: Path, run: str, client: Any = None, **more: Any) -> RunResult:
    """Resume: gather what landed and play the rest."""
    settings = stubs.settings_of(root)
    own = given(client)
    with Ledger.open(settings.ledger) as ledger:
        result = asyncio.run(
            resume(
                run,
                ledger,
                settings,
                interface=own.interface,
                client_factory=own.client_factory,
                judge=own.judge,
                **more,
            )
        )
        return replace(result, outcomes=[_whole(one) for one in result.outcomes])


def _whole(outcome: Outcome) -> Outcome:
    """With its trace read, for when the ledger is closed."""
    trace = outcome.trace
    return replace(outcome, trace=trace.full()) if isinstance(trace, StoredTrace) else outcome


def start(root: Path, url: str, *words: str, off: str = "") -> subprocess.Popen[str]:
    """Start a process of this file, without one of its guards if so told."""
    return subprocess.Popen(
        [sys.executable, __file__, str(root), url, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENAI_API_KEY": "sk-a-secret-of-the-tests", "OFF": off},
    )


def main(root: Path, url: str, what: str, *more: str) -> str:
    """What the command line says."""
    if what == "cut":
        return cut_up(root, process.plan(root, url)).run
    if what == "resume":
        with Ledger.open(stubs.settings_of(root).ledger) as ledger:
            run = str(ledger.read("SELECT run FROM runs")[0]["run"])
        return gather_up(root, run).run
    return work(root, what, more[0], base_url=url).state


if __name__ == "__main__":
    store.GATHER_SECONDS = 0.0
    process.take_away(os.environ.get("OFF", ""))
    if len(sys.argv) > 5:
        process.arm_the_trap(sys.argv[5], int(sys.argv[6]), lands_in=worker_room)
    try:
        print(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], *sys.argv[4:5]))
    except HeldoutError as error:
        sys.exit(f"{type(error).__name__}: {error}")
