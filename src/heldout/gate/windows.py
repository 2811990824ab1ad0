"""The pieces of a line that may be a name and are no plain prose."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from heldout.gate.vocabulary import Vocabulary

MOST = 4
"""Words of a window, at most."""
SHORTEST = 4
"""Letters and digits of a window, at least."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_RUN = re.compile(r"[A-Za-z0-9]{7,60}")
_QUOTED = re.compile(r"(?<!\w)[`'\"‘“]([^`'\"‘’“”]{2,60})[`'\"’”]|`([^`]{2,60})`")
_GAP = re.compile(r"…|\.\.\.|\*")
_NEITHER = re.compile(r"[^a-z0-9]+")
_JOINTS = frozenset("-_./:@")


class Window(NamedTuple):
    """One to four neighbouring words of a folded line."""

    key: str
    words: tuple[str, ...]
    first: int
    last: int
    code: bool
    """Several words with no blank between them."""
    unknown: bool
    """With a word that is in no list."""
    slashed: bool
    """With a slash between its words, as alternatives are written too."""


class Piece(NamedTuple):
    """A quoted piece of a folded line, letters and digits only."""

    key: str
    first: int
    last: int


@lru_cache(maxsize=20_000)
def windows(line: str, vocabulary: Vocabulary) -> tuple[Window, ...]:
    """The windows of a folded line that are worth a look."""
    words = list(_WORD.finditer(line))
    lower = [word.group().lower() for word in words]
    unknown = [w.isalpha() and len(w) > 3 and not vocabulary.known(w) for w in lower]
    found: list[Window] = []
    for at in range(len(words)):
        key, joined, strange, slashed = "", True, False, False
        for end in range(at, min(at + MOST, len(words))):
            gap = line[words[end - 1].end() : words[end].start()] if end > at else ""
            if end > at and (len(gap) > 2 or (gap.strip() and not _JOINTS.issuperset(gap.strip()))):
                break
            joined = joined and " " not in gap
            slashed = slashed or "/" in gap
            key += lower[end]
            strange = strange or unknown[end]
            if not unknown[at] and not unknown[end] and not joined:
                continue
            code = end > at and joined
            if len(key) >= SHORTEST and (code or strange) and not key.isdigit():
                span = words[at].start(), words[end].end()
                found.append(Window(key, tuple(lower[at : end + 1]), *span, code, strange, slashed))
    return tuple(found)


@lru_cache(maxsize=20_000)
def runs(line: str, vocabulary: Vocabulary) -> tuple[Piece, ...]:
    """Unbroken runs of letters and digits that are no known word: a name may be inside."""
    return tuple(
        Piece(word.group().lower(), *word.span())
        for word in _RUN.finditer(line)
        if not word.group().isdigit() and not vocabulary.known(word.group().lower())
    )


@lru_cache(maxsize=20_000)
def halves(line: str) -> tuple[tuple[Piece, Piece], ...]:
    """Neighbouring quoted pieces, and the two sides of an ellipsis or a star in a quoted one."""
    if not any(quote in line for quote in "`'\"‘“"):
        return ()
    pieces: list[Piece] = []
    pairs: list[tuple[Piece, Piece]] = []
    for match in _QUOTED.finditer(line):
        group = 1 if match[1] is not None else 2
        start, text = match.start(group), match[group]
        gap = _GAP.search(text)
        if gap:
            head, tail = _bare(text[: gap.start()]), _bare(text[gap.end() :])
            if head and tail:
                middle = start + gap.start()
                pairs.append((Piece(head, start, middle), Piece(tail, middle, match.end(group))))
        key = _bare(text)
        if key:
            pieces.append(Piece(key, start, match.end(group)))
    return (*pairs, *pairwise(pieces))


def _bare(text: str) -> str:
    return _NEITHER.sub("", text.lower())
