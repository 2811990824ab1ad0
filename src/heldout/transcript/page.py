"""Lines for a terminal: hostile text made harmless, long lines wrapped, nothing coloured."""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import dataclass, field

from heldout.terminal import visible

NARROWEST, WIDEST, PIPED = 50, 140, 100
"""Columns of a page: at least, at most, and where no terminal says how many it has."""
_LONGEST = 200_000
"""Characters of one line that are looked at."""


def page_width() -> int:
    """The columns of the terminal, or a fixed number for a pipe or a file."""
    if not sys.stdout.isatty():
        return PIPED
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((PIPED, 24)).columns))


def wrapped(text: str, width: int) -> list[str]:
    """Each line of a text cleaned and cut into pieces no longer than ``width``.

    Blanks at the beginning are kept, and a list's item hangs on its dash.
    """
    lines: list[str] = []
    for line in visible(text, _LONGEST, lines=True).split("\n"):
        blank = len(line) - len(line.lstrip(" "))
        indent = " " * min(blank, width // 2)
        hanging = "  " if line.startswith("- ", blank) else ""
        lines += textwrap.wrap(
            line.strip(" "),
            width,
            initial_indent=indent,
            subsequent_indent=indent + hanging,
            break_on_hyphens=False,
        ) or [""]
    return lines


@dataclass(slots=True)
class Page:
    """Collects lines; ``text`` is the whole page."""

    width: int = PIPED
    lines: list[str] = field(default_factory=list)

    def add(self, text: str, indent: int = 0) -> None:
        """A paragraph, indented by so many blanks."""
        room = max(20, self.width - indent)
        self.lines += [f"{' ' * indent}{line}".rstrip() for line in wrapped(text, room)]

    def labelled(self, label: str, text: str, indent: int = 2, column: int = 20) -> None:
        """A label and its text beside it."""
        room = max(20, self.width - indent - column)
        head, *rest = wrapped(text, room) or [""]
        self.lines.append(f"{' ' * indent}{label:<{column}}{head}".rstrip())
        self.lines += [f"{' ' * (indent + column)}{line}".rstrip() for line in rest]

    def beside(self, mark: str, left: str, right: str) -> None:
        """Two texts in two columns with a mark in the margin."""
        room = max(18, (self.width - 10) // 2)
        columns = wrapped(left, room), wrapped(right, room)
        for index in range(max(map(len, columns))):
            one, two = (lines[index] if index < len(lines) else "" for lines in columns)
            margin = mark if index == 0 else ""
            self.lines.append(f"{margin:<7}{one:<{room}} | {two}".rstrip())

    def heading(self, text: str) -> None:
        """A heading with a blank line before it."""
        if self.lines:
            self.lines.append("")
        self.add(text)

    def text(self) -> str:
        """The page."""
        return "\n".join(self.lines)
