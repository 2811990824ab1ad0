"""Peak memory of a run without worlds as it grows: ``python -m bench memory``.

Each size is played in a process of its own over HTTP: loop, journal, landing, ledger, outcomes.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.harness import Noop, Server
from bench.running import bench_cases, judge_by_word
from heldout.brain import Brain
from heldout.run import Arm, Limits, Plan, play
from heldout.settings import Settings
from heldout.store import Ledger

SIZES = (600, 6000)
STEPS = 3
BUDGET = 200


def measure(url: str, investigations: int) -> None:
    """Play so many and print this process's peak in MB."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(root=Path(folder))
        brain = Brain({"method.md": "Look at what the service calls. " * 60 + "\n"}, ("method.md",))
        plan = Plan(
            purpose="train",
            set="bench",
            model="openai/fake@low",
            cases=bench_cases(settings, investigations // 3),
            arms=(Arm("brain", brain),),
            repeats=3,
            concurrency=20,
            base_url=url,
            limits=Limits(STEPS + 5),
        )
        with Ledger.open(settings.ledger) as ledger:
            result = asyncio.run(
                play(plan, ledger, settings, interface=Noop(), judge=judge_by_word)
            )
            assert len(result.outcomes) == investigations
            assert {one.verdict.result for one in result.outcomes} == {"pass"}
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def main() -> None:
    """Print the peak of each size."""
    print(f"{STEPS + 1} calls an investigation, 20 in flight, no worlds (budget {BUDGET} MB, flat)")
    with Server(0, STEPS) as server:
        for size in SIZES:
            done = subprocess.run(
                [sys.executable, "-m", "bench.memory", server.url, str(size)],
                cwd=Path(__file__).resolve().parents[1], env=os.environ,
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            print(f"  {size:5} investigations   {int(done.stdout):4} MB at the peak")


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]))
