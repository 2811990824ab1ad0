"""What a run's manifest says after more repeats were asked for; its first row stays as it was."""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # The newest row of a run counts before the manifest that it began with.
    """
    CREATE TABLE manifests (
        run VARCHAR NOT NULL, manifest_json VARCHAR NOT NULL, "at" BIGINT NOT NULL
    )
    """,
)
