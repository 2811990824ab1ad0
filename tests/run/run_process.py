"""A process that plays or resumes a run over HTTP, and may kill itself at a named point.

``python run_process.py ROOT BASE_URL play|RUN [POINT NUMBER]``
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import run_stubs as stubs

import heldout.run.player as player
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


def arm_the_trap(point: str, number: int) -> None:
    """Kill this process when it gets to a point for the n-th time."""
    passed = 0

    def die_at(name: str) -> None:
        nonlocal passed
        if name == point:
            passed += 1
            if passed == number:
                os.kill(os.getpid(), signal.SIGKILL)

    def around(owner: Any, name: str, before: str, after: str) -> None:
        real = getattr(owner, name)

        def wrapped(*args: Any, **more: Any) -> Any:
            die_at(before)
            result = real(*args, **more)
            die_at(after)
            return result

        setattr(owner, name, wrapped)

    around(Journal, "write", "before journal", "after journal")
    around(player, "land", "before landing", "after landing")
    around(Ledger, "_commit", "before commit", "after commit")
    around(Journal, "forget", "", "after forgetting")

    real_replace = os.replace

    def replace(source: Any, target: Any) -> None:
        if str(source).endswith(".json.part"):
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
    if len(sys.argv) > 4:
        arm_the_trap(sys.argv[4], int(sys.argv[5]))
    print(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
