"""The lines that a proposal adds, and the brain without one of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from heldout.brain import APPEND, Brain
from heldout.edit import Edit, apply_edits
from heldout.errors import EditError


@dataclass(frozen=True, slots=True)
class Line:
    """One added line: its file, its number there (from 1), its text."""

    file: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Unit:
    """What is probed as one thing: an edit, or a whole change that nobody split.

    ``targets`` are the incidents that it was written for, ``without`` the brain that lacks it.
    """

    name: str
    lines: tuple[Line, ...]
    without: Brain
    targets: tuple[str, ...] = ()


def added(before: Brain, after: Brain) -> tuple[Line, ...]:
    """The lines with words that ``after`` has and ``before`` has not, in load order."""
    old, found = before.all_files(), []
    for name, text in after.all_files().items():
        theirs, lines = old.get(name, "").splitlines(), text.splitlines()
        matcher = difflib.SequenceMatcher(None, theirs, lines, autojunk=False)
        for tag, _, _, start, end in matcher.get_opcodes():
            if tag in ("insert", "replace"):
                found += [Line(name, at + 1, lines[at]) for at in range(start, end)]
    return tuple(line for line in found if _says_something(line.text))


def _says_something(text: str) -> bool:
    """Headings, marks and blank lines have no effect of their own to speak of."""
    said = text.strip()
    return said != APPEND and not said.startswith("#") and any(c.isalpha() for c in said)


def without(brain: Brain, dropped: Iterable[Line]) -> Brain:
    """The brain without some of its lines."""
    numbers: dict[str, set[int]] = {}
    for line in dropped:
        numbers.setdefault(line.file, set()).add(line.number)
    for name, gone in numbers.items():
        lines = brain.all_files()[name].splitlines()
        kept = [text for at, text in enumerate(lines, 1) if at not in gone]
        brain = brain.with_file(name, "\n".join(kept))
    return brain


def whole(before: Brain, after: Brain, name: str = "") -> Unit:
    """Everything between two brains as one unit."""
    return Unit(name, added(before, after), before)


def units(before: Brain, after: Brain, edits: Iterable[tuple[Edit, tuple[str, ...]]]) -> list[Unit]:
    """A unit per edit with its targets; ``after`` is ``before`` with all of them.

    An edit that others build on cannot be left out by itself, so then its lines are dropped. A
    line that two edits add belongs to the first.
    """
    listed = list(edits)
    free = list(added(before, after))
    made = []
    for edit, targets in listed:
        mine = []
        for text in edit.added_lines():
            match = next((line for line in free if line.text.strip() == text.strip()), None)
            if match is not None:
                free.remove(match)
                mine.append(match)
        others = [one for one, _ in listed if one is not edit]
        try:
            rest = apply_edits(before, others)
        except EditError:
            rest = without(after, mine)
        made.append(Unit(edit.id, tuple(mine), rest, targets))
    return made
