"""CPU of each pack's calls on a world of full size, and of serving one: ``python -m bench packs``.

Budget: a call 15 ms at the 95th percentile. The second part plays investigations by a program that
submits at once, so that it counts what a program costs beside its own work: a serving process, a
supervisor, the program's start.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.tools import BUDGET, noise_world
from heldout.agent.program import ProgramAgent, ProgramOptions
from heldout.brain import Brain
from heldout.graph import open_interface, write_world
from heldout.incident import Incident
from heldout.run import Limits

ROUNDS = 20
INVESTIGATIONS = 6
CALLS = (
    ("kubectl", {"command": "get pods -o wide"}),
    ("kubectl", {"command": "get all -A"}),
    ("kubectl", {"command": "describe deploy/deployment-1"}),
    ("kubectl", {"command": "events --since 1d"}),
    ("git", {"command": "log -n 20"}),
    ("git", {"command": "log -p --since 2d"}),
    ("git", {"command": "diff --since 1d --stat"}),
    ("git", {"command": "log --oneline -- '*/Deployment/*'"}),
    ("prometheus_query", {"query": "topk(5, metric_3)"}),
    ("prometheus_query", {"query": "max_over_time(metric_3[1h]) > avg_over_time(metric_3[1d])"}),
    ("prometheus_query_range",
     {"query": "avg by (cluster) (metric_3)", "start": "1d", "end": "now"}),
)  # fmt: skip
SUBMIT = """
import json, os, urllib.request
body = json.dumps({"solution": "nothing"}).encode()
url = os.environ["HELDOUT_SREGYM_URL"] + "/submit"
asked = urllib.request.Request(url, body, {"Content-Type": "application/json"})
urllib.request.urlopen(asked).read()
"""


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder) / "world"
        write_world(noise_world(), world)
        _calls(world)
        script = Path(folder) / "submit.py"
        script.write_text(SUBMIT)
        asyncio.run(_programs(world, script))


def _calls(world: Path) -> None:
    session = open_interface("kubectl,promql,git").open(str(world), 1)
    print(f"{'call':<76} {'p50':>6} {'p95':>6}  CPU ms over {ROUNDS} rounds")
    for tool, args in CALLS:
        answer = session.call(tool, args)
        spent = []
        for number in range(ROUNDS):
            asked = dict(args)  # A world keeps its answers; a blank more makes another question.
            first = next(iter(asked))
            asked[first] += " " * (number + 1)
            began = time.process_time()
            session.call(tool, asked)
            spent.append((time.process_time() - began) * 1000)
        p50, p95 = np.percentile(spent, [50, 95])
        words = f"{tool} {' '.join(str(value) for value in args.values())}"
        note = "" if p95 <= BUDGET else f"  over {BUDGET:g}"
        note += "  ERROR" if answer.is_error else ""
        print(f"{words:<76} {p50:6.1f} {p95:6.1f}{note}")
    session.close()


async def _programs(world: Path, script: Path) -> None:
    agent = ProgramAgent(ProgramOptions(f"{sys.executable} -S {script}", sregym=True))
    incident = Incident("inc-1", "s", "alert", world, "d")
    brain = Brain(files={"method.md": "Look.\n"}, load=("method.md",))
    before = _cpu()
    began = time.perf_counter()
    for seed in range(INVESTIGATIONS):
        trace = await agent(
            incident, brain, None, open_interface(), model="m", limits=Limits(), seed=seed
        )  # type: ignore[arg-type]
        assert trace.stop_reason == "submitted", trace.detail
    spent, wall = _cpu() - before, time.perf_counter() - began
    print(f"an investigation by a program: {spent / INVESTIGATIONS:.2f} CPU-s, "
          f"{wall / INVESTIGATIONS:.2f} s beside its own work")  # fmt: skip


def _cpu() -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(one) for one in both]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
