"""A project with one incident, and reports to hand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.build.small import project
from tests.simulate.small import small_spec

import heldout.split as split_module
from heldout.build import append_incident
from heldout.intake import Material, read_material
from heldout.settings import Settings
from heldout.simulate import generate
from heldout.split import HeldoutAccess

LEAN = {"scale": 0.12, "events": 300, "log_lines": 600}


@pytest.fixture
def access() -> Iterator[HeldoutAccess]:
    """The key of an intake process."""
    before = split_module._role
    split_module._role = "intake"
    yield HeldoutAccess()
    split_module._role = before


@pytest.fixture
def own(tmp_path: Path, access: HeldoutAccess) -> Settings:
    """A set ``tiny`` with one simulated incident, of memory_quota, in train."""
    made = project(tmp_path, brain=True)
    spec = replace(small_spec("memory_quota", knobs=LEAN), group="quotas")
    append_incident(made, "tiny", spec, generate(spec), "train", access)
    return made


@pytest.fixture
def hand_in(own: Settings) -> Callable[[str, str], Material]:
    """Drops a report into the project's folder."""

    def drop(name: str, text: str) -> Material:
        folder = own.root / "intake"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return read_material(path)

    return drop
