"""What a verdict cost, and how judges do on labelled answers."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # NULL in verdicts of people and in rows older than this step. usd NULL with calls: unknown.
    "ALTER TABLE verdicts ADD COLUMN calls INTEGER",
    "ALTER TABLE verdicts ADD COLUMN input_tokens BIGINT",
    "ALTER TABLE verdicts ADD COLUMN output_tokens BIGINT",
    "ALTER TABLE verdicts ADD COLUMN usd DOUBLE",
    # judge_hash binds a row to code, prompts and models; labels_hash to the answers and labels.
    """
    CREATE TABLE calibrations (
        judge VARCHAR NOT NULL, models_json VARCHAR NOT NULL, judge_hash VARCHAR NOT NULL,
        labels VARCHAR NOT NULL, labels_hash VARCHAR NOT NULL, result_json VARCHAR NOT NULL,
        "at" BIGINT NOT NULL
    )
    """,
)
