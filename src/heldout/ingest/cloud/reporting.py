"""What an import of cloud resources tells its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from heldout.ingest.reading import FileRecord
from heldout.ingest.report import Report

_NO_LOSS = (
    "a data source", "an answer that is one page", "a reference to", "a part of a ", "a planned ",
    "an applied address", "a step of an apply", "an id that fits",
)  # fmt: skip
"""Begins what is worth a remark and is not lost: the world says all that the material does."""


class Counted(Protocol):
    """What became of the things in the files."""

    @property
    def unknown(self) -> Mapping[str, int]: ...

    @property
    def left_out(self) -> Mapping[str, int]: ...


def into_report(
    report: Report, files: Iterable[FileRecord], counts: Counted, placed: Mapping[str, int]
) -> None:
    """Tell a report of every file, of types without a shape, of joins, and of what is missing."""
    for record in files:
        report.file(record)
    report.unknown_kinds.update(counts.unknown)
    told = Counter(counts.left_out)
    told.update({what: n for what, n in placed.items() if what != "joined"})
    if placed.get("joined"):
        report.joined["ARN or id"] += placed["joined"]
    for what, n in sorted(told.items()):
        if n and what.startswith(_NO_LOSS):
            report.note(f"{n} times {what}")
        elif n:
            report.left_out[what] += n
