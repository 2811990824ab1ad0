"""Hostile text made harmless: what cannot be seen is shown, what never ends is cut."""

from __future__ import annotations

import re
import unicodedata

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
