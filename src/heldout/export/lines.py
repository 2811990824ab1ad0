"""JSON lines: one row of an export each, checked and scrubbed on its way out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from heldout.canaries import Watch
from heldout.store import Scrubber


class Guard:
    """Lets a text out without this process's secrets, and not at all with a canary in it."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._scrub = Scrubber()

    def text(self, plain: Any, where: str) -> str:
        """Plain data as JSON on one line; a canary is a :class:`~heldout.errors.CanaryFound`."""
        text = self._scrub(json.dumps(plain, ensure_ascii=True, separators=(",", ":")))
        self._watch.require_clean(text, where)
        return text


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]], guard: Guard) -> int:
    """Write rows and return how many."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(guard.text(row, f"export, row {count + 1}") + "\n")
            count += 1
    return count
