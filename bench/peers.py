"""The same task and server, driven by heldout and by others: ``python -m bench peers``.

Inspect is an extra of this bench: where this Python lacks it, that of ``.venv-bench`` is asked
(``python -m venv .venv-bench``, then ``pip install --group bench`` in it with pip 25.1 or later).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.drivers import CALLS, CONCURRENCY, INCIDENTS, REPEATS, TOTAL
from bench.harness import Server

ROOT = Path(__file__).resolve().parents[1]
LATENCY = 100
PEERS = (
    ("heldout", "heldout, a whole run"),
    ("post", "raw post loop"),
    ("openai", "bare openai client"),
    ("react", "dspy.ReAct"),
    ("inspect", "Inspect"),
)


def python_for(name: str) -> str:
    """The interpreter that can run one driver; empty where none can."""
    if name != "inspect":
        return sys.executable
    extra = ROOT / ".venv-bench" / "bin" / "python"
    named = os.environ.get("HELDOUT_BENCH_PYTHON", str(extra))
    for python in (named, sys.executable):
        found = (
            Path(python).is_file()
            and not subprocess.run(
                [python, "-c", "import inspect_ai"], capture_output=True, check=False
            ).returncode
        )
        if found:
            return python
    return ""


def measure(name: str, python: str) -> dict[str, Any]:
    """One driver in a process of its own, against a server of its own."""
    final = "tool" if name == "heldout" else "text"
    with tempfile.TemporaryDirectory() as folder, Server(LATENCY, CALLS - 1, final) as server:
        done = subprocess.run(
            [python, "-m", "bench.drivers", name, server.url, folder],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Print CPU per call, wall against the ceiling, peak memory, log size, and ratios."""
    print(
        f"{INCIDENTS} incidents x {REPEATS}, {CALLS} calls each, {CONCURRENCY} in flight, "
        f"{LATENCY} ms server, 1 KB tool answers"
    )
    print("                        CPU ms/call   of heldout   of ceiling   peak MB   log KB each")
    base: float | None = None
    for name, title in PEERS:
        python = python_for(name)
        if not python:
            print(f"  {title:<21} not installed: pip install --group bench")
            continue
        seen = measure(name, python)
        cpu = 1000 * seen["cpu"] / seen["calls"]
        base = base or cpu
        ideal = seen["calls"] * LATENCY / 1000 / CONCURRENCY
        shown = f"{title} {seen.get('version', '')}".strip()
        print(
            f"  {shown:<22}{cpu:10.2f} {cpu / base:12.2f} {ideal / seen['wall']:11.0%} "
            f"{seen['peak_mb']:9} {seen['log'] / TOTAL / 1000:13.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
