"""``heldout ingest logs``: log lines of files, whoever wrote them and whatever carried them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.reading import FileRecord, Outcome, Unreadable
from heldout.ingest.telemetry.files import SUFFIXES, LogFile
from heldout.ingest.telemetry.joining import Tally, messages
from heldout.ingest.telemetry.places import place_of_file
from heldout.ingest.telemetry.recording import Line
from heldout.ingest.telemetry.sources import Sources
from heldout.ingest.telemetry.walk import reference_of, telemetry_files


def mark_of(name: str, file: Path) -> str:
    """What a file is known again by, so that it is read into a world once: its name and bytes.

    A line has nothing to be known by, as the same one twice is two lines.
    """
    with file.open("rb") as stream:
        said = hashlib.file_digest(stream, "sha256")
    said.update(name.encode("utf-8", "replace"))
    return said.hexdigest()[:32]


class Logs:
    """Lines as text or JSON become lines of the world, at the entity that said them."""

    name = "logs"
    reads = (
        "log files: text with any usual time stamp, JSON lines, exports of Loki, CloudWatch, "
        "Elasticsearch and OpenTelemetry; plain or gzip"
    )

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read every log file at or below ``path``."""
        sources = Sources(draft, options.cluster)
        for relative, full in telemetry_files(path, SUFFIXES, draft.report):
            if draft.has_lines_of(mark_of(relative, full)):
                told = FileRecord(
                    relative, "known, skipped", 0, "its lines are in this world already"
                )
            else:
                told = _read(relative, full, draft, sources, options)
            draft.report.file(told)


def _read(
    relative: str, full: Path, draft: WorldDraft, sources: Sources, options: ImportOptions
) -> FileRecord:
    reference, dated = reference_of(full, options)
    file = LogFile(full, reference, draft.redactor)
    home, tally, kept = place_of_file(relative, full.absolute().as_posix()), Tally(), [0]

    def lines() -> Iterator[Line]:
        for one in messages(file.entries(), tally):
            kept[0] += 1
            yield one.ts, sources.entity(one.place.over(home)), one.level, one.text

    problem = ""
    try:
        draft.log_lines(lines())
    except Unreadable as error:
        if not kept[0]:
            return FileRecord(relative, error.outcome, 0, error.detail)
        problem = f"what follows {error.detail}"
    notes = [
        *file.damage.notes(),
        *(f"{count} lines {what}" for count, what in (
            (tally.joined, "joined to the message before them"),
            (tally.without_time, "without a time, left out"),
        ) if count),
        *([f"{tally.cut} messages cut for their length"] * bool(tally.cut)),
        *(["times without a year take that of the file's own date"] * (file.undated and not dated)),
        *([problem] * bool(problem)),
    ]  # fmt: skip
    if not kept[0]:
        notes.insert(0, "holds no message with a time")
    found: Outcome = "read" if kept[0] else "no object"
    return FileRecord(relative, found, kept[0], "; ".join(notes), bool(problem))


IMPORTER = Logs()
