"""Amounts as Kubernetes writes them, such as ``512Mi`` and ``250m``."""

from __future__ import annotations

import re
from typing import Any

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)")
_FACTORS = {
    "": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50,
}  # fmt: skip


def amount(said: Any) -> float | None:
    """Bytes, cores or a count; ``None`` where it is no quantity."""
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        return None
    match = _QUANTITY.fullmatch(str(said).strip())
    if match is None or match[2] not in _FACTORS:
        return None
    return float(match[1]) * _FACTORS[match[2]]
