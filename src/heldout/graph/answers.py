"""Answers of a world that were given already: nothing in a world changes, so they hold."""

from __future__ import annotations

import threading
from collections import OrderedDict

from heldout.interface import ToolAnswer


class Answers:
    """The answers given last, by what was asked; safe to use from several threads.

    An answer is 8 KiB at most, so ``most`` bounds the memory as well. A run asks a world the same
    things again and again, since each arm and repeat begins at the same alert.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, ToolAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, asked: str) -> ToolAnswer | None:
        """The answer, ``None`` where it is not kept."""
        with self._lock:
            found = self._kept.get(asked)
            if found is not None:
                self._kept.move_to_end(asked)
        return found

    def keep(self, asked: str, answer: ToolAnswer) -> None:
        """Keep an answer, and let go of the one that was not asked for the longest."""
        with self._lock:
            self._kept[asked] = answer
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
