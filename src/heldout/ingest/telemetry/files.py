"""A file of logs as entries: lines of text or JSON, or one JSON document that frames them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from heldout.ingest.reading import Unreadable
from heldout.ingest.redaction import Redactor
from heldout.ingest.telemetry.entries import Entries, Entry
from heldout.ingest.telemetry.levels import level_of
from heldout.ingest.telemetry.lines import Damage, lines_of, opened
from heldout.ingest.telemetry.places import NOWHERE, Place, place_of
from heldout.ingest.telemetry.records import flattened
from heldout.ingest.telemetry.shapes import Framed, framed, unfolded
from heldout.ingest.telemetry.stamps import Clock, moment

SUFFIXES = (".log", ".logs", ".txt", ".jsonl", ".ndjson", ".json", ".out", ".err", ".gz")

_DOCUMENT = re.compile(rb"\s*(?:\{\s*(?:[\"}]|$)|\[\s*(?:[{\]]|$))")
_PEEK = 64 * 1024
_LEVELS = ("level", "detected_level", "severity", "severity_text")


class LogFile:
    """Reads one file.

    ``damage`` says afterwards what was wrong with its lines, ``undated`` how many had a time
    without a year.
    """

    def __init__(self, path: Path, reference: int, redactor: Redactor) -> None:
        self.damage = Damage()
        self.undated = 0
        self._path = path
        self._entries = Entries(Clock(reference), redactor)
        self._around: Mapping[str, Any] | None = None
        self._told: tuple[Place, str | None] = (NOWHERE, None)

    def entries(self) -> Iterator[Entry]:
        """Everything the file says, in its order; :class:`Unreadable` as it comes to it."""
        with opened(self._path) as stream:
            is_document = _is_document(stream)
            stream.seek(0)
            if is_document:
                yield from map(self._framed, framed(stream))
                return
            for line in lines_of(stream, self.damage):
                yield from self._line(line)

    def _line(self, line: str) -> Iterator[Entry]:
        if line.startswith("{"):
            try:
                body = orjson.loads(line)
            except orjson.JSONDecodeError:
                body = None
            if isinstance(body, dict):
                yield from map(self._framed, unfolded(body))
                return
        entry = self._entries.of_line(line)
        self.undated += not entry.dated
        yield entry

    def _framed(self, one: Framed) -> Entry:
        if isinstance(one.body, tuple):
            entry = self._entries.of_line(one.body[1], 1)
            entry = entry._replace(ts=moment(one.body[0]) or entry.ts)
        else:
            entry = self._entries.of_body(one.body)
        if not one.around:
            return entry
        if one.around is not self._around:
            flat = flattened(one.around)
            names = {key: str(value) for key, value in flat.items()}
            level = next((level_of(flat[key], key) for key in _LEVELS if key in flat), None)
            tag = names.get("logstream") or names.get("logstreamname") or ""
            place = place_of({"tag": tag, **names} if tag else names)
            self._around, self._told = one.around, (place, level)
        place, level = self._told
        return entry._replace(place=entry.place.over(place), level=entry.level or level)


def _is_document(stream: IO[bytes]) -> bool:
    """Whether a file is one JSON document, not lines: its first line alone is no record."""
    try:
        head = stream.read(_PEEK)
    except (EOFError, OSError) as error:
        raise Unreadable("unreadable, skipped", "is a damaged archive") from error
    head = head.removeprefix(b"\xef\xbb\xbf")
    if not _DOCUMENT.match(head):
        return False
    line, end, _ = head.lstrip().partition(b"\n")
    try:
        first = orjson.loads(line)
    except orjson.JSONDecodeError:
        # A record longer than this may still be a line: then what follows it is one too.
        return bool(end) or len(head) < _PEEK or not _record_begins(head)
    forwarded = isinstance(first, list) and len(first) == 3 and isinstance(first[2], dict)
    return isinstance(first, list) and not forwarded


def _record_begins(head: bytes) -> bool:
    """Whether a long first line looks like a record: a scalar field before any list."""
    return (
        bool(re.match(rb'\s*\{\s*"[^"]{1,60}"\s*:\s*["\d]', head)) and b'"status"' not in head[:20]
    )
