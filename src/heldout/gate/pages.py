"""A brain as the gate reads it: pages of lines in load order, and one squashed text over all."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from heldout.brain import Brain
from heldout.gate.views import View, fold, without_markup

RATIONALE = "(rationale)"
FILE_NAMES = "(file names)"

INSIDE, SOFT, JOINT, BLANK, BREAK = range(5)
"""What stands before a squashed character: nothing, a case or digit change, a separator, a blank,
the end of a line."""

_CAMEL = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)


_RUN = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Page:
    """One file's name and lines."""

    file: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A span of a page: lines and columns count from 1, ``end_column`` is exclusive."""

    page: Page
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def source(self) -> str:
        """The text as written; a span over lines keeps its line breaks."""
        if self.line == self.end_line:
            return self.page.lines[self.line - 1][self.column - 1 : self.end_column - 1]
        first = self.page.lines[self.line - 1][self.column - 1 :]
        last = self.page.lines[self.end_line - 1][: self.end_column - 1]
        middle = self.page.lines[self.line : self.end_line - 1]
        return "\n".join([first, *middle, last])

    @property
    def around(self) -> tuple[str, str]:
        """What stands before and after it on its own lines."""
        return (
            self.page.lines[self.line - 1][: self.column - 1],
            self.page.lines[self.end_line - 1][self.end_column - 1 :],
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The whole lines that it touches."""
        return self.page.lines[self.line - 1 : self.end_line]


@dataclass(frozen=True, slots=True)
class Squashed:
    """Letters and digits only, lower case; ``edges[i]`` says what stood before character ``i``."""

    text: str
    edges: bytes
    at: tuple[int, ...]
    """Index into the view of every character."""


@lru_cache(maxsize=20_000)
def squash(text: str) -> Squashed:
    """Squash one folded line."""
    if text.isascii():
        return _squash_ascii(text)
    characters: list[str] = []
    edges = bytearray()
    at: list[int] = []
    soft = {match.start() for match in _CAMEL.finditer(text)}
    edge = BREAK
    for index, character in enumerate(text):
        if character.isalnum():
            if edge == INSIDE and index in soft:
                edge = SOFT
            for lower in character.lower():
                if lower.isalnum():
                    characters.append(lower)
                    edges.append(edge)
                    at.append(index)
                    edge = INSIDE
        else:
            edge = max(edge, BLANK if character.isspace() else JOINT)
    return Squashed("".join(characters), bytes(edges), tuple(at))


def _squash_ascii(text: str) -> Squashed:
    """The same for plain ASCII, a run of letters and digits at a time."""
    pieces: list[str] = []
    edges: list[bytes] = []
    at: list[int] = []
    end = 0
    for match in _RUN.finditer(text):
        first, last = match.span()
        gap = text[end:first]
        edge = BREAK if not pieces else BLANK if any(c.isspace() for c in gap) else JOINT
        run = bytearray(last - first)
        run[0] = edge
        word = match.group()
        if not (word.islower() and word.isalpha()):
            for inner in _CAMEL.finditer(text, first, last):
                if inner.start() > first:
                    run[inner.start() - first] = SOFT
        pieces.append(word.lower())
        edges.append(bytes(run))
        at.extend(range(first, last))
        end = last
    return Squashed("".join(pieces), b"".join(edges), tuple(at))


class Text:
    """The squashed text of many folded lines, and the way back to where each piece stands."""

    def __init__(self, rows: Sequence[tuple[Page, int, View]]) -> None:
        self._rows = rows
        pieces = [squash(view.text) for _, _, view in rows]
        self._pieces = pieces
        self.text = "".join(piece.text for piece in pieces)
        self.edges = b"".join(piece.edges for piece in pieces)
        self._firsts: list[int] = []
        at = 0
        for piece in pieces:
            self._firsts.append(at)
            at += len(piece.text)

    def place(self, first: int, last: int) -> Place:
        """Where squashed characters ``first`` up to, not including, ``last`` were written.

        A span that runs into another page is cut at the end of its own.
        """
        head, start = self._source(first)
        tail, end = self._source(last - 1)
        page, line, view = self._rows[head]
        other, end_line, end_view = self._rows[tail]
        column = view.starts[start]
        if other is not page:
            return Place(page, line, column + 1, line, len(page.lines[line - 1]) + 1)
        return Place(page, line, column + 1, end_line, end_view.ends[end] + 1)

    def bounded(self, first: int, last: int) -> bool:
        """True where both ends are ends of a token; a plural or possessive ``s`` may follow."""
        if self.edges[first] == INSIDE:
            return False
        edges = self.edges
        for rest in ("", "s", "es"):
            end = last + len(rest)
            if self.text[last:end] == rest and (end >= len(edges) or edges[end] != INSIDE):
                return True
        return False

    def _source(self, index: int) -> tuple[int, int]:
        row = bisect_right(self._firsts, index) - 1
        while index - self._firsts[row] >= len(self._pieces[row].at):
            row -= 1
        return row, self._pieces[row].at[index - self._firsts[row]]


class Scan:
    """Pages with their views; each is made once and lines are remembered across brains."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = tuple(pages)

    def lines(self) -> Iterator[tuple[Page, int, str]]:
        """Every non-empty line with its page and number."""
        for page in self.pages:
            for number, line in enumerate(page.lines, 1):
                if line:
                    yield page, number, line

    @cached_property
    def folded(self) -> tuple[tuple[Page, int, View], ...]:
        """Every non-empty line, folded."""
        return tuple((page, number, fold(line)) for page, number, line in self.lines())

    @cached_property
    def squashed(self) -> Text:
        """One text over all pages in load order, so a name over a line break is seen."""
        return Text(self.folded)

    @cached_property
    def unmarked(self) -> Text | None:
        """The same without HTML comments and tags; ``None`` where there are none."""
        rows: list[tuple[Page, int, View]] = []
        for page in self.pages:
            whole = without_markup("\n".join(page.lines))
            if whole is not None:
                rows.extend(_rows(page, whole))
        return Text(rows) if rows else None


def _rows(page: Page, view: View) -> Iterator[tuple[Page, int, View]]:
    """Cut a view of a whole page into lines that know their columns; a line's end may be gone."""
    firsts = [0]
    for line in page.lines:
        firsts.append(firsts[-1] + len(line) + 1)
    run: list[int] = []
    current = 0
    for index, start in enumerate(view.starts):
        number = bisect_right(firsts, start)
        if run and number != current:
            yield _row(page, current, view, run, firsts[current - 1])
            run = []
        current = number
        if view.text[index] != "\n":
            run.append(index)
    if run:
        yield _row(page, current, view, run, firsts[current - 1])


def _row(
    page: Page, number: int, view: View, run: Sequence[int], first: int
) -> tuple[Page, int, View]:
    inner = fold("".join(view.text[i] for i in run))
    starts = tuple(view.starts[run[start]] - first for start in inner.starts)
    ends = tuple(view.ends[run[end - 1]] - first for end in inner.ends)
    return page, number, View(inner.text, starts, ends)


def pages_of(brain: Brain, base: Brain | None = None) -> tuple[Page, ...]:
    """What the gate reads of a brain: every file that may be tuned, then the names of the files.

    A frozen file is left out; with a ``base`` only if it was frozen there with the same text.
    """
    before = base.all_files() if base is not None else {}
    texts = {
        name: text
        for name, text in brain.all_files().items()
        if brain.editable(name)
        or (base is not None and (base.editable(name) or before.get(name) != text))
    }
    pages = [Page(name, tuple(text.split("\n"))) for name, text in texts.items()]
    return (*pages, Page(FILE_NAMES, tuple(texts)))
