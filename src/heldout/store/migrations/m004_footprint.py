"""How an investigation worked, in counts, so that comparing runs need not read their traces."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # NULL without a trace, and in rows older than this step: their traces are counted when needed.
    "ALTER TABLE investigations ADD COLUMN change_searches INTEGER",
    "ALTER TABLE investigations ADD COLUMN early_searches INTEGER",
    "ALTER TABLE investigations ADD COLUMN repeated_calls INTEGER",
    "ALTER TABLE investigations ADD COLUMN cited_ids INTEGER",
    "ALTER TABLE investigations ADD COLUMN shown_ids INTEGER",
)
