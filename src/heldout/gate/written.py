"""From the text that was checked back to the file as somebody wrote it.

A brain is checked after :func:`heldout.brain.normalise`: blank lines before the first are gone and
accents are composed. Editors and code hosts count in the file on disk.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from heldout.gate.report import Finding, GateReport


def as_written(report: GateReport, folder: Path) -> GateReport:
    """The report with the lines and columns of the files in ``folder``.

    A file that is not there, or says something else by now, keeps the places of the checked text.
    """

    @cache
    def lines(name: str) -> tuple[str, ...]:
        try:
            text = (folder / name).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError, ValueError):
            return ()
        return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    found = tuple(_moved(finding, lines) for finding in report.findings)
    return replace(report, findings=found)


def _moved(finding: Finding, lines: Callable[[str], tuple[str, ...]]) -> Finding:
    written = lines(finding.file)
    skipped = next((number for number, line in enumerate(written) if line.rstrip()), 0)
    last = (finding.end_line or finding.line) + skipped
    if not written or not 0 < finding.line <= last <= len(written):
        return finding
    first = written[finding.line + skipped - 1]
    return replace(
        finding,
        line=finding.line + skipped,
        column=_column(first, finding.column),
        end_column=_column(first, finding.end_column),
        end_line=last if finding.end_line else 0,
        end_line_column=_column(written[last - 1], finding.end_line_column),
    )


def _column(written: str, column: int) -> int:
    """The column of a line as written for one of its composed form."""
    if column <= 1 or written.isascii():
        return column
    composed = 0
    for start, end in _clusters(written):
        size = len(unicodedata.normalize("NFC", written[start:end]))
        if composed + size >= column:
            return start + 1 + (column - 1 - composed if size == end - start else 0)
        composed += size
    return len(written) + column - composed


def _clusters(line: str) -> list[tuple[int, int]]:
    """A character with the marks that follow it, one after the other."""
    starts = [
        index for index, char in enumerate(line) if not index or not unicodedata.combining(char)
    ]
    return list(zip(starts, [*starts[1:], len(line)], strict=True))
