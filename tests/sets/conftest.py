"""A small set that was really made, once for all tests here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.build.small import PLAN, project

from heldout import split as split_module
from heldout.build import make_set
from heldout.settings import Settings


@pytest.fixture(scope="module", autouse=True)
def build_role() -> Iterator[None]:
    """These tests open both sides, as a build does."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A project with a set of seven incidents; never written to."""
    settings = project(tmp_path_factory.mktemp("sets") / "tiny", brain=True)
    before = split_module._role
    split_module._role = "build"
    make_set(settings, PLAN)
    split_module._role = before
    return settings


@pytest.fixture
def own_tiny(tiny: Settings, tmp_path: Path) -> Settings:
    """A copy of it to break."""
    return Settings(root=Path(shutil.copytree(tiny.root, tmp_path / "tiny")), set="tiny")
