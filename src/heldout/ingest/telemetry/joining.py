"""Lines that are one message: stack traces, indented text, what a carrier cut in the middle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from heldout.ingest.telemetry.entries import Entry
from heldout.ingest.telemetry.levels import DEFAULT, level_in
from heldout.ingest.telemetry.places import Place

LONGEST = 8_000
"""Characters of one message that are kept."""

MOST_LINES = 500

_GOES_ON = re.compile(
    r"\s+\S|$|Caused by: |\.\.\. \d+ (?:more|common)|[\w.$]+(?:Error|Exception|Exit|Interrupt)\b.*$"
    r"|During handling of the above|The above exception was|Traceback \(most recent call last\)"
    r"|goroutine \d+ \[|created by |[\w./*()\[\]-]+\(.*\)$|\}|\]|\)|--- End of "
)
_TRACE = re.compile(
    r"Traceback \(most recent call last\)|^panic: |\bgoroutine \d+ \[|Exception\b|Error\b", re.M
)


class Message(NamedTuple):
    """One message of a log."""

    ts: int
    level: str
    text: str
    place: Place


@dataclass(slots=True)
class Tally:
    """Lines that gave no message of their own."""

    joined: int = 0
    without_time: int = 0
    cut: int = 0


class _Open:
    """A message that may go on."""

    def __init__(self, entry: Entry) -> None:
        assert entry.ts is not None
        self.ts = entry.ts
        self.level = entry.level
        self.place = entry.place
        self.partial = entry.partial
        self._parts = [entry.text]
        self._size = len(entry.text)
        self._lines = 1

    def takes(self, entry: Entry) -> bool:
        """Whether a line belongs to this message."""
        if self._lines >= MOST_LINES or (entry.place != self.place and entry.ts is not None):
            return False
        if self.partial or entry.ts is None:
            return True
        if not entry.carried or entry.ts - self.ts > 5_000_000:
            return False
        indented = entry.text[:1].isspace() or not entry.text
        return bool(_GOES_ON.match(entry.text)) and (indented or self._is_trace())

    def add(self, entry: Entry) -> None:
        """Take a line."""
        self._lines += 1
        if self._size <= LONGEST:
            self._parts.append(entry.text if self.partial else f"\n{entry.text}")
            self._size += len(self._parts[-1])
        if self.level is None:
            self.level = entry.level
        self.partial = entry.partial

    def _is_trace(self) -> bool:
        return any(map(_TRACE.search, self._parts[-40:]))

    def message(self, tally: Tally) -> Message | None:
        """The whole of it; ``None`` where it says nothing."""
        text = "".join(self._parts).strip("\n")
        if len(text) > LONGEST:
            tally.cut += 1
            text = f"{text[:LONGEST]} \N{HORIZONTAL ELLIPSIS} [cut]"
        if not text.strip():
            return None
        level = self.level
        if (
            self._lines > 1
            and level in (None, DEFAULT)
            and level_in(text) is None
            and self._is_trace()
        ):
            level = "ERROR"
        return Message(self.ts, level or DEFAULT, text, self.place)


def messages(entries: Iterable[Entry], tally: Tally) -> Iterator[Message]:
    """Messages of entries that come in the order of their source.

    An entry without a time goes on with the message before it, since that is what a line without
    a head is; before the first one with a time there is nothing to go on with.
    """
    pending: _Open | None = None
    for entry in entries:
        if pending is not None and pending.takes(entry):
            pending.add(entry)
            tally.joined += 1
            continue
        if entry.ts is None:
            tally.without_time += bool(entry.text.strip())
            continue
        if pending is not None:
            found = pending.message(tally)
            if found is not None:
                yield found
        pending = _Open(entry)
    if pending is not None:
        found = pending.message(tally)
        if found is not None:
            yield found
