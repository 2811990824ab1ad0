"""How many of an investigation's output tokens went into reasoning."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # NULL in rows older than this step: how many there were is not known.
    "ALTER TABLE investigations ADD COLUMN reasoning_tokens BIGINT",
)
