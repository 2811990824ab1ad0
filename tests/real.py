"""Real third-party data: where it lies, and what happens where it is absent.

Tests that read it carry the mark ``real``. They skip with a reason where the data is absent, except
under ``make test-real``, which is there to run them: then its absence is a failure.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(
    os.environ.get("HELDOUT_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "real"
)


def real(*parts: str) -> Path:
    """A file or folder of the real data; skips, or fails where it must be there."""
    path = ROOT.joinpath(*parts)
    if path.exists():
        return path
    said = (
        f"set HELDOUT_REAL_DATA to the folder with real sample data ({'/'.join(parts)} is absent)"
    )
    if os.environ.get("HELDOUT_REAL_REQUIRED"):
        pytest.fail(said)
    pytest.skip(said)
