"""A sandbox for each test, and instances of templates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heldout.repair.sandbox.runner import Limits, Sandbox


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A sandbox that ends with the test."""
    with Sandbox(limits=Limits(wall_seconds=15)) as made:
        yield made
