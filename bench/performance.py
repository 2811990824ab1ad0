"""Run every bench that measures a budget and write what they print into docs/performance.md.

``python -m bench.performance NAME ...`` measures only some anew and leaves the other sections.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import machine

ROOT = Path(__file__).resolve().parents[1]
BENCHES = (
    ("harness", "CPU per model call of the agent loop, and wall against the latency ceiling"),
    ("tools", "CPU of each tool on one world of full size"),
    ("investigation", "CPU of one investigation with a simulated model, all in"),
    ("worlds", "making and writing worlds of full size"),
    ("validity", "validating an incident of full size with its twins"),
    ("ledger", "size and CPU of the ledger per investigation"),
    ("gate", "time of the leak gate"),
    ("compare", "comparing and listing in a ledger of 10,000 investigations"),
    ("memory", "peak memory of a run as it grows"),
    ("ingest", "importing 200 MB of each kind of real material"),
    ("repair", "steps of the repair environment, in process and over the wire"),
    ("peers", "the same task and server, driven by heldout and by others"),
)
HEAD = """# Performance

Written by `python -m bench performance`; do not edit by hand. CPU time and ratios within one run
count; wall time depends on what else the machine does.
"""


def main(names: tuple[str, ...] = ()) -> None:
    """Rewrite docs/performance.md from fresh runs, each in a process of its own."""
    page = ROOT / "docs" / "performance.md"
    old = sections(page.read_text(encoding="utf-8"))
    unknown = set(names) - {name for name, _ in BENCHES}
    if unknown:
        sys.exit(f"error: no bench '{min(unknown)}' measures a budget")
    parts = [HEAD]
    for name, what in BENCHES:
        title = what[0].upper() + what[1:]
        if not names or name in names:
            parts.append(f"## {title}\n\n{measured(name)}")
        elif name in old:
            parts.append(f"## {title}\n\n{old[name]}")
    page.write_text("\n".join(parts), encoding="utf-8")
    print("docs/performance.md written")


def sections(text: str) -> dict[str, str]:
    """What stands under each heading, by the bench that wrote it."""
    found = {}
    for part in text.split("\n## ")[1:]:
        body = part.partition("\n\n")[2]
        command = re.match(r"`python -m bench (\w+)`", body)
        if command:
            found[command.group(1)] = body.rstrip() + "\n"
    return found


def measured(name: str) -> str:
    """One bench's output with the command, the date and the machine."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    text = done.stdout.split("\n", 1)[1].rstrip()
    when = f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}.*"
    return f"`python -m bench {name}` {when}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
