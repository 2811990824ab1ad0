"""The small world, written once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.graph.worlds import small_world

from heldout.graph import WorldInterface, WorldSession, write_world


@pytest.fixture(scope="session")
def small_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small world; not to be altered."""
    directory = tmp_path_factory.mktemp("worlds") / "small"
    write_world(small_world(), directory)
    return directory


@pytest.fixture
def session(small_dir: Path) -> Iterator[WorldSession]:
    """A session over the small world."""
    opened = WorldInterface().open(str(small_dir), 1)
    yield opened
    opened.close()
