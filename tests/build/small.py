"""A small set for tests: four traps, two onset controls, one control without a change."""

from __future__ import annotations

from pathlib import Path

from heldout.build import SetPlan
from heldout.settings import Settings

PLAN = SetPlan(
    "tiny", seed=3, traps=4, onset_controls=2, no_change=1, scale=0.5, log_lines=2000, events=1200
)


def project(root: Path) -> Settings:
    """An empty project."""
    (root / "datasets").mkdir(parents=True, exist_ok=True)
    return Settings(root=root)
