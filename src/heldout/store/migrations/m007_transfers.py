"""Tables of brains by models."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # One row when a table begins, one when it ends; the newest counts.
    """
    CREATE TABLE transfers (
        transfer VARCHAR NOT NULL, half VARCHAR NOT NULL, "set" VARCHAR NOT NULL,
        brain_hash VARCHAR NOT NULL, asked_json VARCHAR NOT NULL, result_json VARCHAR,
        started BIGINT NOT NULL, ended BIGINT
    )
    """,
)
