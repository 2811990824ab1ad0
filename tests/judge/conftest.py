"""Makes the stubs of this folder and of the runs' tests importable."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "run")]

from judge_server import JudgeServer  # noqa: E402


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    """A fake judging model over real loopback HTTP."""
    with JudgeServer() as running:
        yield running
