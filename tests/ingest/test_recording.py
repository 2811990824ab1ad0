"""Lines and series of a draft: redacted, given patterns, and the same world in any pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.graph.worlds import MINUTE, NOW, SECOND, eid, small_builder

from heldout.errors import IngestError
from heldout.graph import read_table, verify_world, write_world
from heldout.graph.schema import WorldTables
from heldout.ingest.redaction import Redactor
from heldout.ingest.telemetry import recording as recording_room
from heldout.ingest.telemetry.recording import Recording


def tables(recording: Recording) -> WorldTables:
    """A small world with what was recorded."""
    found = small_builder().tables()
    columns = {**found.columns, "metric_series": recording.names()}
    return replace(found, columns=columns, lines=(), spool=recording.spool)


SECRETS = (
    "password=hunter22x", "postgres://app:hunter22x@db/app", "AKIA0123456789ABCDEF",
    "api_key: abcdef123456", "Authorization: Basic aHVudGVyMjI6eA==",
    '{"authorization":"Bearer 0paque-t0ken-77"}', "got bearer 0paque-t0ken-77 from x",
    "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG", "GET /b?x=1&X-Amz-Signature=0123456789abcdef",
    "session_token=FQoGZXIvYXdz", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
)  # fmt: skip


def test_secrets_in_lines_are_replaced_and_stay_equal(tmp_path: Path):
    """No secret is in a world's lines or patterns; the same one has the same placeholder."""
    recording = Recording(Redactor())
    recording.log_lines(
        (NOW - n * SECOND, eid(1), "INFO", f"try {n} with {one}")
        for n, one in enumerate((*SECRETS, SECRETS[0]))
    )
    digest = write_world(tables(recording), tmp_path / "w")
    verify_world(tmp_path / "w", digest, deep=True)
    said = [row["msg"] for row in read_table(tmp_path / "w", "log")]
    patterns = [row["template"] for row in read_table(tmp_path / "w", "log_template")]
    for hidden in (
        "hunter22x",
        "AKIA0123456789ABCDEF",
        "abcdef123456",
        "MIIE",
        "aHVudGVyMjI6",
        "0paque",
        "wJalrXUtn",
        "0123456789abcdef",
        "FQoGZXIv",
    ):
        assert not any(hidden in text for text in (*said, *patterns))
    assert said[-1].split()[-1] == said[0].split()[-1] == "password=redacted-0001"


def test_chunks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One chunk or many, one call or several: the same digest."""
    lines = [
        (NOW - n * 7919 % MINUTE, eid(1 + n % 2), "WARN", f"user u{n} came") for n in range(50)
    ]
    once = Recording(Redactor())
    once.log_lines(lines)
    monkeypatch.setattr(recording_room, "_CHUNK_LINES", 7)
    parts = Recording(Redactor())
    parts.log_lines(lines[:20])
    parts.log_lines(iter(lines[20:]))
    digests = {write_world(tables(one), tmp_path / "w") for one in (once, parts)}
    assert len(digests) == 1


def test_a_world_is_added_to(tmp_path: Path):
    """Lines and series of a world stay; new lines of an old pattern join it, series go on."""
    first = Recording(Redactor())
    first.log_lines([(NOW - 9 * SECOND, eid(1), "INFO", "user ann came")])
    first.series(eid(1), "cpu", "ratio", NOW - MINUTE, 10, np.array([1, np.nan], dtype=np.float32))
    write_world(tables(first), tmp_path / "w")
    second = Recording(Redactor(), tmp_path / "w")
    second.log_lines([(NOW - 8 * SECOND, eid(1), "INFO", "user bob came")])
    second.series(eid(1), "cpu", "other", NOW - 40 * SECOND, 10, np.ones(2, dtype=np.float32))
    write_world(tables(second), tmp_path / "w")
    assert [row["template"] for row in read_table(tmp_path / "w", "log_template")] == [
        "user <*> came"
    ]
    assert [row["msg"] for row in read_table(tmp_path / "w", "log")] == [
        "user ann came",
        "user bob came",
    ]
    [series] = read_table(tmp_path / "w", "metric_series")
    assert series["unit"] == "ratio"
    assert [row["v"] for row in read_table(tmp_path / "w", "metric_value")] == [1.0, None, 1.0, 1.0]


def test_a_level_that_is_none_is_refused():
    """Importers name the levels of a world; anything else is a mistake of theirs."""
    with pytest.raises(IngestError, match="'FATAL' is no level"):
        Recording(Redactor()).log_lines([(NOW, eid(1), "FATAL", "x")])


def test_lone_surrogates_do_not_end_an_import(tmp_path: Path):
    """Text that no encoding can hold is replaced."""
    recording = Recording(Redactor())
    recording.log_lines([(NOW, eid(1), "INFO", "a \ud800 b")])
    write_world(tables(recording), tmp_path / "w")
    assert read_table(tmp_path / "w", "log")[0]["msg"] == "a ? b"


def test_lines_are_taken_as_they_come(monkeypatch: pytest.MonkeyPatch):
    """A chunk is on disk before the next line is asked for."""
    monkeypatch.setattr(recording_room, "_CHUNK_LINES", 2)
    recording = Recording(Redactor())
    seen = []

    def lines() -> Iterator[tuple[int, str, str, str]]:
        for n in range(6):
            seen.append(recording.spool.lines)
            yield NOW, eid(1), "INFO", f"line {n}"

    recording.log_lines(lines())
    assert seen == [0, 0, 2, 2, 4, 4]
