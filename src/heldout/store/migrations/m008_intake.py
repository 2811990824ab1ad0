"""Steps of drafts, and how production agreed with the simulation."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # action: read | accepted | dropped. Of a report only its digest is kept, and nothing of what it
    # became but how many incidents joined which side.
    """
    CREATE TABLE intake_events (
        draft VARCHAR, report_digest VARCHAR NOT NULL, action VARCHAR NOT NULL, "set" VARCHAR,
        side VARCHAR, incidents INTEGER, model VARCHAR, spent_json VARCHAR, name VARCHAR,
        "at" BIGINT NOT NULL
    )
    """,
    """
    CREATE TABLE fidelities (
        fidelity VARCHAR NOT NULL, file_digest VARCHAR NOT NULL, model VARCHAR NOT NULL,
        result_json VARCHAR NOT NULL, "at" BIGINT NOT NULL
    )
    """,
)
