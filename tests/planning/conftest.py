"""A project with the shipped small set: its recipes only, no world."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from heldout.settings import Settings, load_settings
from heldout.store import Ledger

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The project; nothing was run in it."""
    (tmp_path / "heldout.toml").write_text('name = "t"\nset = "demo"\n')
    shutil.copytree(ROOT / "datasets" / "demo", tmp_path / "datasets" / "demo")
    return load_settings(tmp_path)


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    """An open ledger of it."""
    with Ledger.open(settings.ledger) as opened:
        yield opened
