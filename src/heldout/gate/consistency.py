"""Lines of one brain that say the same, or the opposite.

Each line is reduced to its topic (stems of content words), whether it negates, and its numbers. Two
lines of one topic are a repetition; where only one of them negates, or their numbers differ, they
contradict each other. Equal topics reject; topics that overlap for the most part only warn, since
method text treats neighbouring matters in like words. Candidates are found by their rarest words
(prefix filtering for Jaccard similarity: Chaudhuri, Ganti and Kaushik, ICDE 2006).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.fuzz import token_set_ratio

from heldout.brain import APPEND, Brain
from heldout.gate.hits import Context, Hit
from heldout.gate.pages import FILE_NAMES, RATIONALE, Page, Place, Scan
from heldout.gate.report import Severity
from heldout.gate.shingles import content_words

RULE = "brain-consistency"
LEAST = 5
"""Content words that a line needs before it is compared."""
NEAR = 0.7
"""Share of words in common (Jaccard) from which two topics are looked at."""
REPEATED = 92.0
"""``token_set_ratio`` from which two topics count as the same."""
COMMON = 300
"""A word in more lines than this finds no candidates."""

_NEGATING = (
    "not never no don't dont doesn't didn't cannot can't cant won't isn't aren't avoid without "
    "neither nor ignore skip"
)
_NEGATIONS = frozenset(_NEGATING.split())
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?:%|[a-z]{1,3}\b)?", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_LINK = re.compile(r"<?https?:\S+|\]\([^)]*\)")
_SKIPPED = re.compile(r"\s*(?:#|\||```|~~~|<!--|---)")


class Gist(NamedTuple):
    """What a line says, for comparison."""

    topic: frozenset[str]
    negated: bool
    numbers: tuple[str, ...]


class _Line(NamedTuple):
    page: Page
    number: int
    gist: Gist


class Conflict(NamedTuple):
    """A new line, and the line of the same prompt that it repeats or contradicts.

    ``what`` reads "the same", "nearly the same", "the opposite" or "another number"; both numbers
    count from 1.
    """

    file: str
    line: int
    text: str
    other_file: str
    other_line: int
    other: str
    what: str


def check(context: Context) -> Iterator[Hit]:
    """Lines that one model can be shown together; the newer of a pair is named, and each once."""
    lines = _read(context.scan.lines())
    for newer, older, severity, what in _pairs(lines, _old_lines(context.base)):
        yield _hit(newer, older, severity, what)


def conflicts(base: Brain, brain: Brain) -> list[Conflict]:
    """What :func:`check` would remark on of the lines that ``brain`` has and ``base`` has not."""
    pages = [Page(name, tuple(text.split("\n"))) for name, text in brain.all_files().items()]
    old = _old_lines(base)
    return [
        Conflict(
            newer.page.file, newer.number, _text(newer),
            older.page.file, older.number, _text(older), what,
        )
        for newer, older, _, what in _pairs(_read(Scan(pages).lines()), old)
        if _text(newer) not in old
    ]  # fmt: skip


def _read(rows: Iterable[tuple[Page, int, str]]) -> list[_Line]:
    return [
        _Line(page, number, gist)
        for page, number, line in rows
        if page.file not in {RATIONALE, FILE_NAMES} and (gist := gist_of(line)) is not None
    ]


def _pairs(
    lines: Sequence[_Line], old: frozenset[str]
) -> Iterator[tuple[_Line, _Line, Severity, str]]:
    """(newer, older, how clear, what) of lines that do not go together, the worst of each newer."""
    replacing = {
        page.file for page in {id(one.page): one.page for one in lines}.values()
        if page.file.startswith("overlays/") and page.lines[:1] != (APPEND,)
    }  # fmt: skip
    worst: dict[tuple[str, int], tuple[_Line, _Line, Severity, str]] = {}
    for first, second in _candidates(lines):
        if not _together(first.page.file, second.page.file, replacing):
            continue
        found = compare(first.gist, second.gist)
        if found is None:
            continue
        if _text(second) in old and _text(first) not in old:
            first, second = second, first
        key = (second.page.file, second.number)
        if key not in worst or found[0] == "reject" != worst[key][2]:
            worst[key] = (second, first, *found)
    yield from worst.values()


def _old_lines(base: Brain | None) -> frozenset[str]:
    texts = base.all_files().values() if base is not None else ()
    return frozenset(line.strip() for text in texts for line in text.split("\n"))


def _text(line: _Line) -> str:
    return line.page.lines[line.number - 1].strip()


@lru_cache(maxsize=20_000)
def gist_of(line: str) -> Gist | None:
    """The gist of a line of prose; ``None`` for headings, tables and lines of few words."""
    if _SKIPPED.match(line):
        return None
    lower = _LINK.sub(" ", line.lower().replace("’", "'"))
    words = set(_WORD.findall(lower))
    topic = frozenset(
        word.stem for word in content_words(lower)
        if word.stem.isalpha() and not {word.stem, lower[word.start : word.end]} & _NEGATIONS
    ) - {"alway"}  # fmt: skip
    if len(topic) < LEAST:
        return None
    return Gist(topic, bool(words & _NEGATIONS), tuple(sorted(_NUMBER.findall(lower))))


def compare(first: Gist, second: Gist) -> tuple[Severity, str] | None:
    """What is wrong with having both, and whether it is clear; ``None`` where nothing is."""
    shared = len(first.topic & second.topic)
    alike = shared / (len(first.topic) + len(second.topic) - shared)
    if alike < NEAR:
        return None
    clear: Severity = "reject" if alike == 1 else "warn"
    if first.negated != second.negated:
        return clear, "the opposite"
    if first.numbers != second.numbers:
        if first.numbers and len(first.numbers) == len(second.numbers):
            return clear, "another number"
        return None
    if alike == 1:
        return clear, "the same"
    ratio = token_set_ratio(" ".join(sorted(first.topic)), " ".join(sorted(second.topic)))
    return ("warn", "nearly the same") if ratio >= REPEATED else None


def _candidates(lines: Sequence[_Line]) -> Iterator[tuple[_Line, _Line]]:
    """Pairs whose topics may overlap by :data:`NEAR`: they share one of their rarest words."""
    counts = Counter(word for line in lines for word in line.gist.topic)
    holding: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        topic = line.gist.topic
        rarest = sorted(topic, key=lambda word: (counts[word], word))
        prefix = rarest[: len(topic) - math.ceil(NEAR * len(topic)) + 1]
        seen: set[int] = set()
        for word in prefix:
            if counts[word] > COMMON:
                continue
            seen.update(holding.setdefault(word, []))
            holding[word].append(index)
        for other in sorted(seen):
            yield lines[other], line


def _together(first: str, second: str, replacing: set[str]) -> bool:
    """False for files that no prompt holds together: overlays of two models, a replaced base."""
    owners = [
        name.split("/")[1:3] if name.startswith("overlays/") else [] for name in (first, second)
    ]
    if all(owners) and owners[0][0] == owners[1][0] and owners[0] != owners[1]:
        return False
    for over, under in ((first, second), (second, first)):
        if over in replacing and over.split("/", 3)[-1] == under:
            return False
    return True


def _hit(line: _Line, other: _Line, severity: Severity, what: str) -> Hit:
    text = line.page.lines[line.number - 1]
    place = Place(line.page, line.number, 1, line.number, len(text) + 1)
    where = f"line {other.number}"
    if other.page is not line.page:
        where += f" of {other.page.file}"
    hint = (
        f"It says {what} as {where}: keep one"
        if "same" in what
        else (f"It says {what} than {where}" if "number" in what else f"It says {what} of {where}")
    )
    return Hit(RULE, severity, place, text.strip()[:120], "", what, (), hint)
