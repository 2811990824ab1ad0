"""A project of one incident on each side and a brain of two lines, for decisions about brains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heldout.brain import Brain, write_brain
from heldout.settings import Settings, load_settings
from heldout.split import Split, write_split
from heldout.store import Ledger

BEFORE = Brain(files={"method.md": "# Method\nLook at errors.\n"}, load=("method.md",))


@pytest.fixture
def project(tmp_path: Path) -> Settings:
    """A project with a brain and an empty ledger."""
    (tmp_path / "heldout.toml").write_text('name = "t"\nset = "tiny"\n')
    write_brain(BEFORE, tmp_path / "brain")
    write_split(Split("tiny", ("inc-aaaa",), ("inc-bbbb",)), tmp_path / "datasets" / "tiny")
    return load_settings(tmp_path)


@pytest.fixture
def ledger(project: Settings) -> Iterator[Ledger]:
    """The project's ledger, open."""
    with Ledger.open(project.ledger) as opened:
        yield opened
