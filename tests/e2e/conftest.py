"""A small project cut out of the demo's set: three traps and a control on each side."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heldout.scaffold import make_project
from heldout.split import Split, read_split, write_split
from heldout.truth import read_spec

ROOT = Path(__file__).resolve().parents[2]

MENDED = ("image_leak", "memory_ceiling", "node_image", "overlapping_runs")
"""Faults of the train side whose incidents a few lines of method solve: a job finds an edit."""


def cut(home: Path, traps: int = 3, controls: int = 1) -> Path:
    """A project at ``home`` whose set holds so many incidents of each side of the demo's."""
    make_project(home)
    source, target = ROOT / "datasets" / "demo", home / "datasets" / "incidents"
    split = read_split(source)
    sides = []
    for ids in (split.train, split.test):
        specs = [read_spec(source / "specs" / f"{one}.toml") for one in sorted(ids)]
        plain = sorted(specs, key=lambda one: (one.fault not in MENDED, one.id))
        chosen = [s for s in plain if s.kind == "trap"][:traps]
        chosen += [s for s in specs if s.kind == "onset_control"][:controls]
        for spec in chosen:
            shutil.copy(source / "specs" / f"{spec.id}.toml", target / "specs")
            shutil.copy(source / "alerts" / f"{spec.id}.md", target / "alerts")
        sides.append(tuple(spec.id for spec in chosen))
    write_split(Split("incidents", *sides), target)
    # Other names and dropped lines have tests of their own; here they would double every job.
    with (home / "heldout.toml").open("a", encoding="utf-8") as file:
        file.write("\n[behaviour]\nrename = 0\nablation = 0\n")
    return home


def heldout(
    project: Path, *words: str, check: bool = True, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a project."""
    done = subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words],
        cwd=project,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    if check:
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with its worlds made; tests copy it."""
    home = cut(tmp_path_factory.mktemp("e2e") / "built")
    said = heldout(home, "build").stdout
    assert said.strip().endswith("8 valid incidents")
    return home


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    """A copy of the built project."""
    return Path(shutil.copytree(built, tmp_path / "project"))
