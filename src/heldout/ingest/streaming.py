"""JSON documents of any size, read event by event: the values at some paths, one after the other.

``ijson.items`` does not serve here: it names the path of every value, which for a hostile document
(a million brackets) fills the memory. Here depth is bounded, and so is the size of one value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, Any

import ijson

from heldout.ingest.reading import MAX_DEPTH, MAX_NODES, Unreadable

ITEM = "item"
"""What stands in a path for an element of a list."""

_OPENING = ("start_map", "start_array")
_CLOSING = ("end_map", "end_array")


def items(stream: IO[bytes], wanted: Collection[str]) -> Iterator[tuple[str, Any]]:
    """(path, value) of every value at one of the wanted paths, in the order of the document.

    Keys are joined by dots, an element of a list is ``item``: ``Records.item``,
    ``data.result.item.values.item``; the empty path is the document itself. Documents may follow
    one another. What does not parse is :class:`Unreadable`, after what came before it.
    """
    path = _Path()
    building: _Building | None = None
    for event, value in _events(stream):
        if building is not None:
            if building.take(event, value):
                yield building.path, building.value
                building = None
                path.closed()
            continue
        if event == "map_key":
            path.key = value
            continue
        if event in _CLOSING:
            path.leave()
            continue
        here = path.here()
        if here in wanted:
            if event in _OPENING:
                building = _Building(here, event)
            else:
                yield here, value
                path.closed()
        elif event in _OPENING:
            path.enter(here, is_list=event == "start_array")
        else:
            path.closed()


def _events(stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    depth = 0
    try:
        for event, value in ijson.basic_parse(stream, use_float=True, multiple_values=True):
            if event in _OPENING:
                depth += 1
                if depth > MAX_DEPTH:
                    raise Unreadable("unreadable, skipped", "is nested too deeply")
            elif event in _CLOSING:
                depth -= 1
            yield event, value
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        raise Unreadable("unreadable, skipped", f"does not parse: {reason}") from error


class _Path:
    """Where in the document the reading is."""

    def __init__(self) -> None:
        self.key: str | None = None
        self._above: list[tuple[str, bool]] = []

    def here(self) -> str:
        """The path of the value that begins now."""
        if not self._above:
            return ""
        above, is_list = self._above[-1]
        name = ITEM if is_list else self.key or ""
        return f"{above}.{name}" if above else name

    def enter(self, here: str, *, is_list: bool) -> None:
        """Go into a value."""
        self._above.append((here, is_list))
        self.key = None

    def leave(self) -> None:
        """Go out of it."""
        self._above.pop()
        self.key = None

    def closed(self) -> None:
        """A value ended without being gone into."""
        self.key = None


class _Building:
    """A value as it comes together."""

    def __init__(self, path: str, event: str) -> None:
        self.path = path
        self.value: Any = {} if event == "start_map" else []
        self._open: list[Any] = [self.value]
        self._keys: list[str] = [""]
        self._left = MAX_NODES

    def take(self, event: str, value: Any) -> bool:
        """Whether the value ended with this event."""
        if event == "map_key":
            self._keys[-1] = value
            return False
        if event in _CLOSING:
            self._open.pop()
            self._keys.pop()
            return not self._open
        self._left -= 1
        if self._left < 0:
            raise Unreadable("unreadable, skipped", f"'{self.path}' holds too much for one object")
        made: Any = value
        if event in _OPENING:
            made = {} if event == "start_map" else []
        within = self._open[-1]
        if isinstance(within, list):
            within.append(made)
        else:
            within[self._keys[-1]] = made
        if event in _OPENING:
            self._open.append(made)
            self._keys.append("")
        return False
