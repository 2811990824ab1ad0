"""Patterns of log lines, mined as they stream by (Drain: He et al., ICWS 2017).

A line is masked first, so that numbers and ids are holes; then it joins the group of lines with as
many words, the same first word and most other words in common, and words in which they differ
become holes too. Groups are shared by all entities, so that a pattern reads the same wherever it
was said. The published library, drain3, had its last release in 2022 and pins versions of its
dependencies that cannot be installed beside ours; what would be used of it fits on this page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from heldout.graph.logs import HOLE, masked

SIMILAR = 0.75
"""The share of words that a line must have in common with a group to join it.

Numbers and ids are masked before, so that what differs is a name or says something else.
"""

MOST_WORDS = 60
MOST_GROUPS = 20_000
"""Beyond so many groups, a line that fits none joins one that says nothing."""

_FULL = 64
"""Beyond so many groups with the same number of words and first word, a line joins the nearest."""

_LONGEST = 1_000
_KNOWN = 50_000
_LEVEL = re.compile(
    r"\W*(?:level=\W*)?(?:trace|debug|info|notice|warn(?:ing)?|err(?:or)?|fatal|critical)\W*", re.I
)
Words = tuple[str, ...]


class _Group:
    """Lines alike: their common words."""

    __slots__ = ("words",)

    def __init__(self, words: Words) -> None:
        self.words = words

    def likeness(self, words: Words) -> float:
        """The share of words that are equal; holes count half, so that the closer group wins."""
        equal = sum(
            (one == other) * (0.5 if one == HOLE else 1.0)
            for one, other in zip(self.words, words, strict=True)
        )
        return equal / max(len(words), 1)

    def join(self, words: Words) -> None:
        """Make holes of the words that differ."""
        if self.words != words:
            self.words = tuple(
                one if one == other else HOLE for one, other in zip(self.words, words, strict=True)
            )


class Miner:
    """Numbers for lines: those of one entity, level and group share theirs.

    ``patterns`` tells what each number stands for, as it is known at that moment.
    """

    def __init__(self, known: Iterable[tuple[str, str, str]] = ()) -> None:
        """``known`` are the patterns (entity, text, level) of a world that is added to."""
        self._groups: list[_Group] = []
        self._leaves: dict[tuple[int, str], list[int]] = {}
        self._by_text: dict[str, int] = {}
        self._numbers: dict[tuple[str, str, int], int] = {}
        self._keys: list[tuple[str, int, str]] = []
        for entity, text, level in known:
            words = _words(text)
            group = self._by_text.get(text)
            if group is None:
                group = self._made(_leaf(words), words, text)
            self._numbers.setdefault((entity, level, group), len(self._keys))
            self._keys.append((entity, group, level))

    def number(self, entity: str, level: str, text: str) -> int:
        """The number of a line's pattern."""
        group = self._group(masked(text.partition("\n")[0][:_LONGEST]))
        key = (entity, level, group)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._keys)
            self._keys.append((entity, group, level))
        return found

    def patterns(self) -> list[tuple[str, str, str]]:
        """(entity, text, level) by number."""
        return [(entity, " ".join(self._groups[group].words), level)
                for entity, group, level in self._keys]  # fmt: skip

    def _group(self, text: str) -> int:
        found = self._by_text.get(text)
        if found is None:
            if len(self._by_text) >= _KNOWN:
                self._by_text.clear()
            found = self._by_text[text] = self._nearest(_words(text))
        return found

    def _nearest(self, words: Words) -> int:
        leaf = _leaf(words)
        among = self._leaves.get(leaf, ())
        if among:
            best = max(among, key=lambda one: self._groups[one].likeness(words))
            if len(among) >= _FULL or self._groups[best].likeness(words) >= _wanted(words):
                self._groups[best].join(words)
                return best
        if len(self._groups) >= MOST_GROUPS:
            leaf, words = _leaf((HOLE,)), (HOLE,)
            if leaf in self._leaves:
                return self._leaves[leaf][0]
        return self._made(leaf, words, "")

    def _made(self, leaf: tuple[int, str], words: Words, text: str) -> int:
        number = len(self._groups)
        self._groups.append(_Group(words))
        self._leaves.setdefault(leaf, []).append(number)
        if text:
            self._by_text[text] = number
        return number


def _wanted(words: Sequence[str]) -> float:
    """The likeness asked for: one word of three may differ, of two none.

    What is a hole anyway can neither tell lines apart nor join them.
    """
    count = max(len(words), 1)
    holes = sum(one == HOLE for one in words)
    share = min(SIMILAR, (count - 1) / count) if count > 2 else 1.0
    return share * (count - holes / 2) / count


@lru_cache(maxsize=4096)
def _words(text: str) -> Words:
    words = text.split()
    if len(words) > MOST_WORDS:
        words = [*words[: MOST_WORDS - 1], HOLE]
    return tuple(words)


def _leaf(words: Words) -> tuple[int, str]:
    """Where to look for a line's group: its number of words and the first that tells anything."""
    telling = (word for word in words if HOLE not in word and not _LEVEL.fullmatch(word))
    return len(words), next(telling, HOLE)
