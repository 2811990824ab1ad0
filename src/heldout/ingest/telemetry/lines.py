"""A file as lines of text, a few at a time, whatever is in it.

Plain or gzip. Bytes that are no UTF-8 are replaced, escape sequences and control characters go, a
line longer than it may be is cut; each is counted.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from heldout.ingest.reading import Unreadable
from heldout.terminal import clean

LONGEST_LINE = 1024 * 1024
"""Bytes of one line that are looked at; the rest is skipped."""

MOST_BYTES = 16 * 1024**3
"""Bytes of one file that are read, unpacked: a small archive can hold more than a disk."""

_GZIP = b"\x1f\x8b"


@dataclass(slots=True)
class Damage:
    """What was wrong with the lines of a file, counted by line."""

    not_utf8: int = 0
    cleaned: int = 0
    cut: int = 0
    ended: str = ""

    def notes(self) -> list[str]:
        """In words, what there is to say."""
        found = [
            f"{count} lines {what}"
            for count, what in (
                (self.not_utf8, "with bytes that are no UTF-8, replaced"),
                (self.cleaned, "with control characters, taken out"),
                (self.cut, "cut for their length"),
            )
            if count
        ]
        return found + [self.ended] * bool(self.ended)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is gzip; :class:`Unreadable` where it cannot be."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
    except (EOFError, zlib.error) as error:
        raise Unreadable("unreadable, skipped", "is a damaged archive") from error
    except OSError as error:
        raise Unreadable("unreadable, skipped", error.strerror or "cannot be read") from error


def lines_of(stream: IO[bytes], damage: Damage) -> Iterator[str]:
    """The lines without their ends, empty ones too; an archive may end in the middle."""
    left = MOST_BYTES
    try:
        while line := stream.readline(LONGEST_LINE):
            left -= len(line)
            if left < 0:
                damage.ended = f"what follows after {MOST_BYTES} bytes was left out"
                return
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                damage.cut += 1
                left -= _skip(stream)
            yield _text(line, damage)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        damage.ended = "the archive is damaged; what could be unpacked was read"


def _skip(stream: IO[bytes]) -> int:
    """Skip what is left of a line; its number of bytes."""
    count = 0
    while part := stream.readline(LONGEST_LINE):
        count += len(part)
        if part.endswith(b"\n"):
            break
    return count


def _text(line: bytes, damage: Damage) -> str:
    line = line.rstrip(b"\r\n")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        damage.not_utf8 += 1
        text = line.decode("utf-8", "replace")
    if text.isprintable():
        return text
    cleaned = clean(text.removeprefix("\ufeff"))
    damage.cleaned += len(cleaned) < len(text) - text.startswith("\ufeff")
    return cleaned
