"""A project with a few real incidents of the demo's set, and the command run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from heldout.scaffold import make_project
from heldout.split import Split, read_split, write_split

DEMO = Path(__file__).resolve().parents[2] / "datasets" / "demo"


def make(home: Path, incidents: int) -> Path:
    """A project with so many train incidents."""
    make_project(home)
    target = home / "datasets" / "incidents"
    chosen = read_split(DEMO).train[:incidents]
    for name in chosen:
        shutil.copy(DEMO / "specs" / f"{name}.toml", target / "specs")
        shutil.copy(DEMO / "alerts" / f"{name}.md", target / "alerts")
    write_split(Split("incidents", chosen, ()), target)
    return home


def heldout(project: Path, *words: str, code: int = 0) -> str:
    """Run the command; what it prints, or on an error what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=project,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout
