"""Finished seeds on disk, under a digest of the code and the set that they were measured with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from bench.efficiency.table import SET, Measured

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".heldout" / "bench"
MEASURED_WITH = ("src/heldout", "bench/efficiency", "brain", "checkers", f"datasets/{SET}")


def kept(seed: int) -> list[Measured] | None:
    """What was measured at a seed with this very code; ``None`` where nothing was."""
    path = _path(seed)
    if not path.is_file():
        return None
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Measured(**{**row, "solved": tuple(row["solved"])}) for row in rows]


def keep(seed: int, rows: Sequence[Measured]) -> None:
    """Write what was measured at a seed."""
    path = _path(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")


def _path(seed: int) -> Path:
    return FOLDER / f"efficiency-{_digest()}-{seed}.json"


@cache
def _digest() -> str:
    digest = hashlib.sha256()
    for part in MEASURED_WITH:
        for path in sorted((ROOT / part).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
