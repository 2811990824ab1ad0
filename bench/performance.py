"""Run every bench that measures a budget and write what they print into docs/performance.md."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import machine

ROOT = Path(__file__).resolve().parents[1]
BENCHES = (
    ("harness", "CPU per model call of the agent loop, and wall against the latency ceiling"),
    ("tools", "CPU of each tool on one world of full size"),
    ("worlds", "making and writing worlds of full size"),
    ("validity", "validating an incident of full size with its twins"),
    ("ledger", "size and CPU of the ledger per investigation"),
    ("gate", "time of the leak gate"),
)
HEAD = """# Performance

Written by `python -m bench performance`; do not edit by hand. CPU time and ratios within one run
count; wall time depends on what else the machine does.
"""


def main() -> None:
    """Rewrite docs/performance.md from fresh runs, each in a process of its own."""
    parts = [HEAD, f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}.*\n"]
    for name, what in BENCHES:
        done = subprocess.run(
            [sys.executable, "-m", "bench", name],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout.split("\n", 1)[1].rstrip()
        parts.append(f"## {what[0].upper()}{what[1:]}\n\n`python -m bench {name}`\n")
        parts.append(f"```text\n{text}\n```\n")
    (ROOT / "docs" / "performance.md").write_text("\n".join(parts), encoding="utf-8")
    print("docs/performance.md written")
