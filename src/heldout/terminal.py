"""Hostile text made harmless for a terminal or a page, and live progress."""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from dataclasses import dataclass, field
from typing import TextIO

# ANSI escapes first, then every C0/C1 control but newline and tab, then bidi overrides: a log line,
# an alert or a model's answer must not move the cursor or disguise what it says.
_UNSAFE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\u202a-\u202e\u2066-\u2069]"
)


def clean(text: str) -> str:
    """``text`` without escapes, control characters and bidi overrides."""
    return _UNSAFE.sub("", text)


_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}


def visible(text: object, limit: int = 600, *, lines: bool = False) -> str:
    """``text`` without escape sequences, with control and direction characters spelled out.

    Everything is on one line unless ``lines`` is set; each line is cut at ``limit`` characters.
    """
    plain = _ANSI.sub("", str(text)).replace("\r\n", "\n").replace("\t", "    ")
    parts = plain.split("\n") if lines else [" ".join(plain.split("\n"))]
    return "\n".join(_cut(_spelled(part[: limit + 1]), limit) for part in parts)


def _spelled(text: str) -> str:
    return "".join(
        f"\N{MATHEMATICAL LEFT ANGLE BRACKET}U+{ord(char):04X}\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
        if unicodedata.category(char) in _HIDDEN
        else char
        for char in text
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + " \N{HORIZONTAL ELLIPSIS}"


@dataclass(slots=True)
class ProgressLine:
    """One rewritten line a second on a terminal, a plain line every ten seconds elsewhere."""

    stream: TextIO = field(default_factory=lambda: sys.stderr)
    quiet: bool = False
    _last: float = 0.0
    _open: bool = False

    def __call__(self, text: str, *, final: bool = False) -> None:
        """Show the newest state; ``final`` always prints and ends the line."""
        if self.quiet:
            return
        live = self.stream.isatty()
        now = time.monotonic()
        if not final and now - self._last < (1.0 if live else 10.0):
            return
        self._last = now
        text = clean(text).replace("\n", " ")
        if live:
            self.stream.write(f"\r\x1b[2K{text[:200]}" + ("\n" if final else ""))
            self._open = not final
        else:
            self.stream.write(text + "\n")
        self.stream.flush()

    def note(self, text: str) -> None:
        """Print a line of its own above the progress line."""
        if self.quiet:
            return
        if self._open:
            self.stream.write("\r\x1b[2K")
            self._open = False
        self.stream.write(clean(text) + "\n")
        self.stream.flush()
