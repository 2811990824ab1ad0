"""Times as exports write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

_LATEST = 1e11
"""Seconds since the epoch beyond which a number is no time of our days."""


def moment(value: Any) -> int | None:
    """A time in microseconds UTC, from ISO text or seconds since the epoch; without a zone, UTC."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * 1_000_000) if 0 < value < _LATEST else None
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found
        return int(found.timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return None
