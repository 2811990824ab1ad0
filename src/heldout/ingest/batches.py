"""JSON too large to hold: the same document several times, with a part of its lists each time.

A reader that takes a document with a short list takes each batch as it is. Nothing but one batch is
in memory, however long the lists at the top of the document are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

WHOLE_BYTES = 8 * 1024 * 1024
"""Files up to this size are read at once."""

LONGEST_VALUE = 64 * 1024 * 1024
"""Characters of one value at the top of a large file, or of one element of its lists."""

_CHUNK = 1024 * 1024
_SPACE = " \t\r\n"
_ENDS = _SPACE + ",:]}"
_BATCH_CHARS = 4 * 1024 * 1024
_decode = json.JSONDecoder().raw_decode


class Member(NamedTuple):
    """A value at the top of a document: of ``key``, or an element of its list.

    ``size`` is its length in the file. A document that is a list itself has the key ``None``.
    """

    key: str | None
    value: Any
    listed: bool
    size: int


def batches(path: Path, *, whole_bytes: int = WHOLE_BYTES) -> Iterator[Any]:
    """The document of a file, whole where it is small, else part by part.

    Of a large object the first part has everything but the elements of its lists, each later one
    the plain values and some elements of one list. A large list comes in pieces. Text that is no
    JSON is a :class:`ValueError`, also after some parts.
    """
    if path.stat().st_size <= whole_bytes:
        with path.open(encoding="utf-8-sig") as stream:
            yield json.load(stream)
        return
    head = head_of(path)
    if isinstance(head, dict):
        yield head
        plain = {key: value for key, value in head.items() if not isinstance(value, dict | list)}
    elif not isinstance(head, list):
        yield head
        return
    key: str | None = None
    held: list[Any] = []
    size = 0
    with path.open(encoding="utf-8-sig") as stream:
        for one in members(stream):
            if held and (not one.listed or one.key != key or size > _BATCH_CHARS):
                yield {**plain, key: held} if isinstance(head, dict) else held
                held, size = [], 0
            if one.listed:
                key = one.key
                held.append(one.value)
                size += one.size
    if held:
        yield {**plain, key: held} if isinstance(head, dict) else held


def head_of(path: Path) -> Any:
    """The document of a file with every list at its top empty; a list itself is an empty list."""
    found: dict[str, Any] = {}
    with path.open(encoding="utf-8-sig") as stream:
        for one in members(stream):
            if one.key is None:
                return [] if one.listed else one.value
            found[one.key] = [] if one.listed else one.value
    return found


def members(stream: TextIO) -> Iterator[Member]:
    """Every value at the top of a document, elements of lists one by one, in order.

    An empty list is a value of its own. Anything but one JSON document is a :class:`ValueError`.
    """
    text = _Text(stream)
    first = text.peek()
    if first == "{":
        text.take("{")
        yield from _object(text)
    elif first == "[":
        yield from _elements(text, None)
    else:
        start = text.place
        yield Member(None, text.value(), False, text.place - start)
    if text.peek():
        raise ValueError(f"there is more after the document, at character {text.place}")


def _object(text: _Text) -> Iterator[Member]:
    if text.peek() == "}":
        text.take("}")
        return
    while True:
        key = text.value()
        if not isinstance(key, str):
            raise ValueError(f"a key is no text, at character {text.place}")
        text.take(":")
        if text.peek() == "[":
            yield from _elements(text, key)
        else:
            start = text.place
            yield Member(key, text.value(), False, text.place - start)
        if text.take(",}") == "}":
            return


def _elements(text: _Text, key: str | None) -> Iterator[Member]:
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        yield Member(key, [], False, 2)
        return
    while True:
        start = text.place
        yield Member(key, text.value(), True, text.place - start)
        if text.take(",]") == "]":
            return


def sequence(path: Path) -> Iterator[Any]:
    """Every document of a file that holds several, line by line or just one after the other.

    Text that is no JSON is a :class:`ValueError`, after the documents before it.
    """
    with path.open(encoding="utf-8-sig") as stream:
        text = _Text(stream)
        while text.peek():
            yield text.value()


class _Text:
    """Text that is read on as it is needed; what was decoded is let go."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._held = ""
        self._at = 0
        self._gone = 0

    @property
    def place(self) -> int:
        """How many characters lie behind."""
        return self._gone + self._at

    def _more(self) -> bool:
        """Read on, twice as far each time that one value needs more; whether there was any."""
        rest = len(self._held) - self._at
        chunk = self._stream.read(max(_CHUNK, rest))
        self._gone += self._at
        self._held = self._held[self._at :] + chunk
        self._at = 0
        return bool(chunk)

    def peek(self) -> str:
        """The next character that is no space, empty at the end."""
        while True:
            while self._at < len(self._held) and self._held[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more():
                return ""

    def take(self, choices: str) -> str:
        """The next character, which must be one of these."""
        found = self.peek()
        if not found or found not in choices:
            raise ValueError(f"expected one of '{choices}' at character {self.place}")
        self._at += 1
        return found

    def value(self) -> Any:
        """The next value, read on until it is complete."""
        self.peek()
        while True:
            try:
                value, end = _decode(self._held, self._at)
            except ValueError:
                if len(self._held) - self._at > LONGEST_VALUE:
                    raise ValueError(
                        f"one value is longer than {LONGEST_VALUE} characters"
                    ) from None
                if self._more():
                    continue
                raise
            ended = self._held[end : end + 1] in _ENDS and end < len(self._held)
            length = end - self._at  # Reading on moves what is held.
            if not ended and self._more():
                continue  # A number may go on in what was not read yet.
            self._at += length
            return value
