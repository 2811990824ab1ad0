"""A small set for tests: four traps, two onset controls, one control without a change."""

from __future__ import annotations

import shutil
from pathlib import Path

from heldout.build import SetPlan
from heldout.settings import Settings

PLAN = SetPlan(
    "tiny", seed=3, traps=4, onset_controls=2, no_change=1, spare=1.2, scale=0.25, log_lines=1500,
    events=900,
)  # fmt: skip


def project(root: Path, *, brain: bool = False) -> Settings:
    """An empty project, with this repository's brain where one is needed."""
    (root / "datasets").mkdir(parents=True, exist_ok=True)
    if brain:
        shutil.copytree(Path(__file__).resolve().parents[2] / "brain", root / "brain")
        (root / "heldout.toml").write_text('name = "tests"\nset = "tiny"\n', encoding="utf-8")
    return Settings(root=root, set="tiny")
