"""The files of a folder that may hold telemetry, and what times without a year are near."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from heldout.errors import IngestError
from heldout.ingest.importer import ImportOptions
from heldout.ingest.reading import FileRecord
from heldout.ingest.report import Report


def telemetry_files(
    path: Path, suffixes: Sequence[str], report: Report
) -> Iterator[tuple[str, Path]]:
    """Every regular file with one of the suffixes at or below ``path``, in a stable order.

    A file that is named itself is taken whatever its suffix. Links that lead out of the folder are
    records in the report. A path that does not exist is an :class:`IngestError`.
    """
    if path.is_file():
        yield path.name, path
        return
    if not path.is_dir():
        raise IngestError(
            "there is nothing to import", where=str(path), mend="Name a file or folder of telemetry"
        )
    root = path.resolve()
    for folder, subfolders, names in os.walk(path, followlinks=False):
        subfolders.sort()
        for name in sorted(names):
            full = Path(folder) / name
            relative = full.relative_to(path).as_posix()
            if not name.lower().endswith(tuple(suffixes)) and not _is_rotated(name):
                continue
            if full.is_symlink() and not full.resolve().is_relative_to(root):
                report.file(FileRecord(relative, "link, skipped", 0, "leads out of the folder"))
            elif full.is_file():
                yield relative, full


def _is_rotated(name: str) -> bool:
    """Whether a name is that of a rotated log: ``app.log.1``, ``app.log-20260304``."""
    stem, found, rest = name.lower().rpartition(".log")
    return bool(stem and found) and rest[:1] in (".", "-") and rest[1:2].isdigit()


def reference_of(path: Path, options: ImportOptions) -> tuple[int, bool]:
    """What times without a year are near, in microseconds, and whether it was given.

    The moment that the import names, else when the file was last written.
    """
    if options.now is not None:
        return options.now, True
    return path.stat().st_mtime_ns // 1000, False
