"""The first layout. Times are integer microseconds since the epoch, UTC; every table only grows."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # A job's state is its newest row.
    """
    CREATE TABLE jobs (
        job VARCHAR NOT NULL, kind VARCHAR NOT NULL, status VARCHAR NOT NULL, model VARCHAR,
        "set" VARCHAR, before_hash VARCHAR, detail_json VARCHAR, "at" BIGINT NOT NULL
    )
    """,
    """
    CREATE TABLE runs (
        run VARCHAR NOT NULL, job VARCHAR, purpose VARCHAR NOT NULL, "set" VARCHAR,
        model VARCHAR NOT NULL, nonce VARCHAR, manifest_json VARCHAR NOT NULL,
        cases_json VARCHAR NOT NULL, started BIGINT NOT NULL
    )
    """,
    # status: started | resumed | finished | error | capped. A run's state is its newest row.
    """
    CREATE TABLE run_events (
        run VARCHAR NOT NULL, status VARCHAR NOT NULL, detail_json VARCHAR, "at" BIGINT NOT NULL
    )
    """,
    # invalid: reason is not empty, and trace may be NULL. usd NULL means that the price is unknown.
    # replayed: so many of its calls were taken from the journal of an earlier process or attempt.
    """
    CREATE TABLE investigations (
        run VARCHAR NOT NULL, incident VARCHAR NOT NULL, arm VARCHAR NOT NULL,
        repeat INTEGER NOT NULL, attempt INTEGER NOT NULL, seed BIGINT NOT NULL, model VARCHAR,
        served_model VARCHAR, brain VARCHAR, reason VARCHAR NOT NULL, detail VARCHAR,
        stop_reason VARCHAR, calls INTEGER, replayed INTEGER, steps INTEGER, input_tokens BIGINT,
        cached_tokens BIGINT, output_tokens BIGINT, usd DOUBLE, seconds DOUBLE,
        root_cause_entity VARCHAR, root_cause_change VARCHAR, trace BLOB,
        started BIGINT NOT NULL, ended BIGINT NOT NULL
    )
    """,
    # Further verdicts on one investigation (another judge, a person) are further rows.
    """
    CREATE TABLE verdicts (
        run VARCHAR NOT NULL, incident VARCHAR NOT NULL, arm VARCHAR NOT NULL,
        repeat INTEGER NOT NULL, attempt INTEGER NOT NULL, judge VARCHAR NOT NULL,
        result VARCHAR NOT NULL, reasoning VARCHAR, criteria_json VARCHAR, author VARCHAR,
        "at" BIGINT NOT NULL
    )
    """,
    # hash is the first 16 bytes of the sha256 over the text; dictionary is another blob's hash.
    """
    CREATE TABLE blobs (
        hash BLOB NOT NULL, codec VARCHAR NOT NULL, dictionary BLOB, size INTEGER NOT NULL,
        data BLOB NOT NULL
    )
    """,
    # Which blob helps to compress the texts of one scope (a world's digest).
    "CREATE TABLE dictionaries (scope VARCHAR NOT NULL, hash BLOB NOT NULL)",
    """
    CREATE TABLE brains (
        hash VARCHAR NOT NULL, blob BLOB NOT NULL, lines INTEGER NOT NULL, "at" BIGINT NOT NULL
    )
    """,
    """
    CREATE TABLE edit_events (
        edit VARCHAR NOT NULL, job VARCHAR NOT NULL, round INTEGER, event VARCHAR NOT NULL,
        detail_json VARCHAR, "at" BIGINT NOT NULL
    )
    """,
    """
    CREATE TABLE gate_reports (
        job VARCHAR, edit VARCHAR, before_hash VARCHAR, after_hash VARCHAR NOT NULL,
        passed BOOLEAN NOT NULL, preexisting INTEGER, test_side_only BOOLEAN, report_json VARCHAR,
        gate_version VARCHAR, inventory_hash VARCHAR, vocabulary_hash VARCHAR,
        checkers_hash VARCHAR, seconds DOUBLE, "at" BIGINT NOT NULL
    )
    """,
    """
    CREATE TABLE proposals (
        proposal VARCHAR NOT NULL, job VARCHAR, model VARCHAR, "set" VARCHAR,
        before_hash VARCHAR NOT NULL, after_hash VARCHAR NOT NULL, diff VARCHAR NOT NULL,
        diff_hash VARCHAR NOT NULL, edits_json VARCHAR, evidence_json VARCHAR,
        created BIGINT NOT NULL
    )
    """,
    # A proposal's decision is its newest row.
    """
    CREATE TABLE decisions (
        proposal VARCHAR NOT NULL, diff_hash VARCHAR NOT NULL, action VARCHAR NOT NULL,
        edits_json VARCHAR, name VARCHAR, reason VARCHAR, "at" BIGINT NOT NULL
    )
    """,
    """
    CREATE TABLE looks (
        score VARCHAR NOT NULL, incident VARCHAR NOT NULL, model VARCHAR NOT NULL,
        "at" BIGINT NOT NULL
    )
    """,
    # One row when a score begins, one when it ends; the newest counts.
    """
    CREATE TABLE scores (
        score VARCHAR NOT NULL, job VARCHAR, run VARCHAR, model VARCHAR NOT NULL, "set" VARCHAR,
        before_hash VARCHAR, after_hash VARCHAR, endpoint_json VARCHAR, endpoint_hash VARCHAR,
        result_json VARCHAR, outcome VARCHAR, report_path VARCHAR, started BIGINT NOT NULL,
        ended BIGINT
    )
    """,
    """
    CREATE TABLE releases (
        brain_hash VARCHAR NOT NULL, action VARCHAR NOT NULL, model VARCHAR, score VARCHAR,
        name VARCHAR, reason VARCHAR, "at" BIGINT NOT NULL
    )
    """,
)
