"""Measures what the leak gate catches, and what it refuses wrongly: ``python -m bench recall``.

Facts come from the built worlds of a set of a hundred, disguises and shapes from this package; both
share no code with the gate. The table is written into docs/how-to/leaks.md between two marks. The
reports of real incidents for the false positives are not part of the project: where they are absent
(``HELDOUT_REAL_DATA`` names their folder) the rest is measured and the page says so.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Measure in a process of its own: only a gate may open both halves."""
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(
        [sys.executable, "-m", "bench.recall", *sys.argv[2:]], cwd=root, check=False
    ).returncode
