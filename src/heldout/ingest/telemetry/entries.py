"""A line as an entry: text in a carrier's frame, JSON in text, text in JSON, two levels deep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from heldout.ingest.redaction import Redactor
from heldout.ingest.telemetry.places import NOWHERE, Place
from heldout.ingest.telemetry.records import record_of
from heldout.ingest.telemetry.stamps import Clock, moment
from heldout.ingest.telemetry.text import Head, head_of, levelled

_DEEPEST = 2


class Entry(NamedTuple):
    """What a line says. ``ts`` is ``None`` where it has no time of its own.

    ``carried``, ``partial`` and ``dated`` are those of :class:`.text.Head`.
    """

    ts: int | None
    level: str | None
    text: str
    place: Place = NOWHERE
    carried: bool = False
    partial: bool = False
    dated: bool = True


class Entries:
    """Reads the lines of one source."""

    def __init__(self, clock: Clock, redactor: Redactor) -> None:
        self._clock = clock
        self._redactor = redactor

    def of_line(self, line: str, depth: int = 0) -> Entry:
        """One line of a file."""
        body = _json(line)
        if body is not None:
            return self.of_body(body, depth)
        head = head_of(line, self._clock)
        if depth and head.ts is None:
            head = levelled(None, head.text, head.level)
        return self._unfold(head, depth)

    def of_body(self, body: Mapping[str, Any] | list[Any], depth: int = 0) -> Entry:
        """One record; a list is one as Fluentd forwards it: tag, time, record."""
        tag, when = "", None
        if isinstance(body, list):
            if len(body) != 3 or not isinstance(body[2], dict):
                return Entry(None, None, "")
            tag, when, body = str(body[0]), moment(body[1]), body[2]
        record = record_of({"tag": tag, **body} if tag else body, self._redactor)
        inner = Entry(None, None, record.text)
        carried = "\n" in record.text[-1:] or "stream" in body
        if record.text and depth < _DEEPEST:
            inner = self.of_line(record.text.rstrip("\n"), depth + 1)
        text = inner.text
        if record.more:
            text = f"{text}{'' if record.more[0] == chr(10) or not text else ' '}{record.more}"
        return Entry(
            record.ts if record.ts is not None else when if when is not None else inner.ts,
            inner.level or record.level,
            text,
            inner.place.over(record.place),
            carried,
            body.get("logtag") == "P" or body.get("_p") == "P",
        )

    def _unfold(self, head: Head, depth: int) -> Entry:
        """A line whose text, after the head, is a record."""
        body = _json(head.text) if depth < _DEEPEST else None
        if body is None:
            return Entry(*head)
        inner = self.of_body(body, depth + 1)
        ts = head.ts if head.ts is not None else inner.ts
        place = inner.place.over(head.place)
        level = inner.level or head.level
        return Entry(ts, level, inner.text, place, head.carried, head.partial, head.dated)


def _json(text: str) -> dict[str, Any] | list[Any] | None:
    """The record that a text is, ``None`` where it is none."""
    if not text.startswith(("{", "[")) or not text.rstrip().endswith(("}", "]")):
        return None
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if isinstance(found, dict):
        return found
    forwarded = isinstance(found, list) and len(found) == 3 and isinstance(found[2], dict)
    return found if forwarded else None
