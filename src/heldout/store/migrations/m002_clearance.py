"""What the gate said of a scored brain, and how many exceptions were in force."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    "ALTER TABLE scores ADD COLUMN gate_version VARCHAR",
    "ALTER TABLE scores ADD COLUMN inventory_hash VARCHAR",
    "ALTER TABLE scores ADD COLUMN vocabulary_hash VARCHAR",
    "ALTER TABLE scores ADD COLUMN checkers_hash VARCHAR",
    "ALTER TABLE scores ADD COLUMN findings INTEGER",
    "ALTER TABLE scores ADD COLUMN exceptions INTEGER",
    "ALTER TABLE gate_reports ADD COLUMN exceptions INTEGER",
    "ALTER TABLE gate_reports ADD COLUMN excused INTEGER",
)
