"""Steps of the repair environment: in process, over OpenEnv's WebSocket, and re-executing ones.

A step is unchanged where the code is as it was at the step before; a re-executing one runs the
traffic anew over code that was edited. Over the wire client and server share the machine. Wall
time, the median of three rounds, over the wire of fifteen short ones (an episode has 60 steps);
budgets: 300 unchanged steps a second in process and with one
session, 600 with sixteen, 1 s at the 95th percentile for a re-executing one.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from heldout.repair.interface import RepairInterface, RepairSession
from heldout.repair.tasks import tasks

STEPS = 1500
TRAIN = sorted(one.id for one in tasks().values() if one.half == "train")
LOOKS = (
    ("list_alerts", {}), ("query_metrics", {"service": "ad_ranking"}), ("git_log", {"limit": 5}),
    ("list_files", {}), ("read_logs", {"service": "capi_pipeline"}),
)  # fmt: skip


def main() -> None:
    """Print the figures."""
    print("repair environment, steps")
    print(f"in process, unchanged     {_median(_in_process):8.0f} steps/s")
    edits = [seconds for task in TRAIN[::4] for seconds in _re_executed(task)]
    ranked = sorted(edits)
    print(
        f"re-executing              {statistics.median(edits):8.3f} s median, "
        f"{ranked[int(0.95 * (len(ranked) - 1))]:.3f} s p95 of {len(edits)}"
    )
    try:
        import openenv  # noqa: F401
    except ImportError:
        print("over WebSocket            not measured: the extra 'openenv' is not installed")
        return
    address, stop = _served()
    try:
        for sessions in (1, 16):
            rate = _median(lambda n=sessions: asyncio.run(_over_the_wire(address, n)), 15)
            print(f"WebSocket, {sessions:2} session(s)   {rate:8.0f} steps/s")
    finally:
        stop()


def _median(measure: Callable[[], float], rounds: int = 3) -> float:
    return statistics.median(measure() for _ in range(rounds))


def _opened() -> RepairSession:
    session = RepairInterface().open(TRAIN[0], 0)
    session.episode.max_steps, session.episode.sla_minutes = 10**9, 1e12
    return session


def _in_process() -> float:
    session = _opened()
    for tool, args in LOOKS:
        session.call(tool, args)
    began = time.perf_counter()
    for number in range(STEPS):
        tool, args = LOOKS[number % len(LOOKS)]
        session.call(tool, args)
    rate = STEPS / (time.perf_counter() - began)
    session.close()
    return rate


def _re_executed(task: str) -> list[float]:
    """Seconds of steps that look at the dashboards after an edit each."""
    session = RepairInterface().open(task, 0)
    files = json.loads(session.call("list_files", {"under": "ad_ranking"}).text)["files"]
    path = next(one["path"] for one in files if one["path"].endswith(".py") and one["lines"] > 5)
    found = []
    for number in range(3):
        made = session.call(
            "edit_lines",
            {"path": path, "action": "insert", "first": 1, "text": f"# note {number}"},
        )
        assert not made.is_error, made.text
        began = time.perf_counter()
        assert not session.call("list_alerts", {}).is_error
        found.append(time.perf_counter() - began)
    session.close()
    return found


def _served() -> tuple[str, Callable[[], None]]:
    child = subprocess.Popen(
        [sys.executable, "-m", "heldout.cli.main", "serve", "repair", "--openenv", "--port", "0"],
        stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert child.stderr is not None
    while True:
        found = re.search(r"http://127\.0\.0\.1:\d+", child.stderr.readline())
        if found:
            return found[0], lambda: (child.terminate(), child.wait())[0]


async def _over_the_wire(address: str, sessions: int) -> float:
    """Steps a second while every session makes fifty, after its episode was begun and seen."""
    from openenv.core.generic_client import GenericEnvClient

    ready, done = asyncio.Barrier(sessions + 1), asyncio.Barrier(sessions + 1)

    async def play(number: int) -> None:
        async with GenericEnvClient(base_url=address) as client:
            await client.reset(task=TRAIN[number % len(TRAIN)])
            for tool, args in LOOKS:
                await client.step({"tool": tool, "args": args})
            await ready.wait()
            for tool, args in LOOKS * 10:
                await client.step({"tool": tool, "args": args})
            await done.wait()

    playing = [asyncio.create_task(play(number)) for number in range(sessions)]
    await ready.wait()
    began = time.perf_counter()
    await done.wait()
    rate = sessions * 50 / (time.perf_counter() - began)
    await asyncio.gather(*playing)
    return rate


if __name__ == "__main__":
    main()
