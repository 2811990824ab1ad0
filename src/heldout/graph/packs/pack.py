"""A pack: some tools and what answers them, beside or instead of the thirteen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from heldout.graph.tools.backend import Args
from heldout.graph.tools.catalogue import Tool
from heldout.graph.tools.page import MAX_BYTES, Page, Window, clip, write_cursor
from heldout.graph.tools.reader import Reader
from heldout.interface import ToolAnswer


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text that is shown whole or not at all, and the ids that it shows."""

    text: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPage:
    """Text as a command prints it: ``blocks`` start at ``offset`` of ``total``.

    Blocks that do not fit any more are not made. ``head`` stands before the first block of every
    page, such as a table's column names.
    """

    blocks: Iterable[Block]
    total: int
    offset: int = 0
    head: str = ""
    window: Window | None = None
    gaps: Sequence[Mapping[str, Any]] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, mark: str) -> ToolAnswer:
        """The page as JSON text within the size cap; what was cut follows with the cursor."""
        room = MAX_BYTES - len(self._text([], None)) - 48
        kept: list[Block] = []
        for block in self.blocks:
            size = _size(block.text)
            if size > room:
                if kept:
                    break
                block = Block(_fitted(block.text, room), block.ids)
                size = room
            kept.append(block)
            room -= size
        reached = self.offset + len(kept)
        cursor = write_cursor(reached, mark) if reached < self.total else None
        ids = dict.fromkeys(one for block in kept for one in block.ids)
        return ToolAnswer(self._text(kept, cursor).decode(), shown_ids=tuple(ids))

    def _text(self, blocks: Sequence[Block], cursor: str | None) -> bytes:
        lines = [self.head, *(block.text for block in blocks)]
        return orjson.dumps(
            {
                "output": "\n".join(line for line in lines if line),
                "total_estimate": self.total,
                "truncated": cursor is not None,
                "cursor": cursor,
                "window_used": self.window.shown() if self.window else None,
                "data_gaps": list(self.gaps),
                **self.extra,
            }
        )


def _size(text: str) -> int:
    return len(orjson.dumps(text)) + 2


def _fitted(text: str, room: int) -> str:
    while _size(text) > room and len(text) > 80:
        text = clip(text, max(40, len(text) // 2))
    return text


def one_line(text: str, longest: int = 500) -> str:
    """Text of a world as part of one line: it cannot begin a line of its own."""
    return clip(" ".join(text.splitlines()), longest)


Answerer = Callable[[Reader, Args], Page | TextPage]


@dataclass(frozen=True, slots=True)
class Pack:
    """Tools in the order in which a model is shown them, each with what answers it."""

    name: str
    tools: Mapping[str, tuple[Tool, Answerer]]
