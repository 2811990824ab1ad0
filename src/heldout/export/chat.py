"""Conversations for supervised fine-tuning: messages and tools as Chat Completions has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.export.lines import Guard, write_lines
from heldout.export.source import Exported, Source


class Chat:
    """One line an investigation: ``messages``, ``tools``, ``provenance``.

    Only what passed, unless ``everything``; a fail is a fail also when a person said so later.
    """

    name = "chat"

    def __init__(self, *, everything: bool = False) -> None:
        self._everything = everything

    def write(self, source: Source, path: Path, guard: Guard) -> int:
        """Write the file and return how many rows it has."""
        return write_lines(path, self._rows(source), guard)

    def _rows(self, source: Source) -> Iterator[dict[str, Any]]:
        offered: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for one in source.investigations():
            if not self._wanted(one) or one.trace is None or not spoken(one.trace.messages):
                continue
            key = (one.run.run, one.row.brain)
            if key not in offered:
                offered[key] = source.tools(one.run, one.row.brain)
            yield {
                "messages": list(one.trace.messages),
                "tools": offered[key] if native(one) else [],
                "provenance": one.provenance(),
            }

    def _wanted(self, one: Exported) -> bool:
        return one.valid and (self._everything or one.verdict.result == "pass")


def spoken(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there is a conversation: a program that played the agent may leave none."""
    return any(message.get("role") == "assistant" for message in messages)


def native(one: Exported) -> bool:
    """Whether the model called tools natively; otherwise they stand in its prompt."""
    return bool(one.provenance()["mode"] == "tools")
