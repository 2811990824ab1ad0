"""Names with typos, cut short, without vowels, reordered, inside a longer word, in two halves.

Only what is no plain prose is looked at: windows of one to four words that hold an unknown word or
are written as code, unknown words, and pieces in quotes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from heldout.gate.hits import Context, Hit, line_place, name_hit
from heldout.gate.inventory import Inventory
from heldout.gate.names import Name
from heldout.gate.windows import Window, halves, runs, windows

RULE = "similar-identifier"
SHORTEST = 6
"""A name shorter than this is not looked for in any form but its own."""
KEPT = 0.6
"""A cut name must keep this share of its characters."""
COVERED = 0.7
"""Two halves must make up this share of a name."""
SKELETON = 4
"""Consonants that an invented word must have to be known by them; other names have six."""
_VOWELS = dict.fromkeys(map(ord, "aeiou"))


def check(context: Context) -> Iterator[Hit]:
    """Pieces that come close to a strong name and are not that name."""
    search = finder(context.inventory)
    vocabulary = context.inventory.vocabulary
    rows = context.scan.folded
    found = [(row, windows(row[2].text, vocabulary)) for row in rows]
    search.prepare([window for _, line in found for window in line])
    for row, line in found:
        best: list[tuple[int, int, Name, str]] = []
        for window in line:
            match = search.match(window)
            if match is not None:
                best.append((window.first, window.last, *match))
        for piece in runs(row[2].text, vocabulary):
            name = search.inside(piece.key)
            if name is not None:
                best.append((piece.first, piece.last, name, "inside a longer word"))
        for head, tail in halves(row[2].text):
            name = search.halves(head.key, tail.key)
            if name is not None:
                best.append((head.first, tail.last, name, "in two halves"))
        for first, last, name, how in _apart(best):
            place = line_place(row, first, last)
            yield name_hit(RULE, "reject", place, name, hint=f"Reads like a name, {how}")


def _apart(found: list[tuple[int, int, Name, str]]) -> Iterator[tuple[int, int, Name, str]]:
    """The longest of overlapping pieces."""
    taken: list[tuple[int, int]] = []
    for first, last, name, how in sorted(found, key=lambda f: f[0] - f[1]):
        if all(last <= begin or first >= end for begin, end in taken):
            taken.append((first, last))
            yield first, last, name, how


def allowed(length: int, unknown: bool = True) -> int:
    """How many edits a name of this length may be away.

    A piece of known words alone must come closer: two plain words are soon near two others. Two
    edits of eight letters make strangers alike (a town's name and an invented one, in a report).
    """
    if length < SHORTEST:
        return 0
    if length < 9 or (length < 10 and not unknown):
        return 1
    return 2 if length <= 15 else 3


class Finder:
    """Fuzzy search over the strong names of one inventory; it remembers every window."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._keys = [name.key for name in inventory.strong]
        self._near: dict[str, tuple[int, int]] = {}
        self._skeletons: dict[str, Name] = {}
        self._words = {w for name in inventory.strong for w in name.words if len(w) >= 4}
        for name in inventory.strong:
            least = SKELETON if name.tier == "T1" and len(name.words) == 1 else 6
            for skeleton in {_without_vowels(name.key), _shortened_words(name.words)}:
                if len(skeleton) >= least:
                    self._skeletons.setdefault(skeleton, name)

    def forget(self) -> None:
        """Drop what is remembered of windows, for measuring."""
        self._near.clear()

    def prepare(self, found: Sequence[Window]) -> None:
        """Measure all new windows at once, blocked by length."""
        by_length: dict[int, list[str]] = {}
        for key in dict.fromkeys(window.key for window in found if self._worth(window)):
            if key not in self._near and key not in self._inventory.names:
                by_length.setdefault(len(key), []).append(key)
        for length, keys in by_length.items():
            self._measure(length, keys)
        if len(self._near) > 500_000:
            self._near.clear()

    def _worth(self, window: Window) -> bool:
        """An unknown word by itself or in a compound, or some word of a name as it is."""
        if window.unknown and (window.code or len(window.words) == 1):
            return True
        return not window.slashed and any(word in self._words for word in window.words)

    def _measure(self, length: int, keys: list[str]) -> None:
        limit = allowed(length)
        part = self._inventory.between(max(SHORTEST, length - limit), length + limit)
        names = self._keys[part]
        self._near.update(dict.fromkeys(keys, (-1, 0)))
        if not limit or not names:
            return
        distances = cdist(keys, names, scorer=OSA.distance, score_cutoff=limit, dtype=np.uint8)
        nearest = distances.argmin(axis=1)
        for row, column in enumerate(nearest.tolist()):
            distance = int(distances[row, column])
            if distance <= min(limit, allowed(len(names[column]))):
                self._near[keys[row]] = part.start + column, distance

    def match(self, window: Window) -> tuple[Name, str] | None:
        """The name that a window comes close to, and how; ``None`` for the name itself."""
        inventory = self._inventory
        if window.key in inventory.names:
            return None
        near, distance = self._near.get(window.key, (-1, 0))
        if near >= 0 and _plausible(window, inventory.strong[near], distance):
            return inventory.strong[near], "misspelt"
        if len(window.words) > 1:
            name = inventory.by_words.get(tuple(sorted(window.words)))
            if name is not None and (window.code or window.unknown):
                return name, "its words in another order"
        return self._shortened(window)

    def _shortened(self, window: Window) -> tuple[Name, str] | None:
        inventory, key = self._inventory, window.key
        if window.unknown and _shortened_words(window.words) == key and key in self._skeletons:
            return self._skeletons[key], "without its vowels"
        at = bisect_left(inventory.by_prefix, key)
        if at < len(inventory.by_prefix):
            full = inventory.by_prefix[at]
            if full.startswith(key) and len(key) >= KEPT * len(full):
                name = inventory.names[full]
                if _cut(window, name):
                    return name, "cut short"
        return None

    def inside(self, run: str) -> Name | None:
        """The longest strong name inside an unbroken run that is no name itself."""
        inventory = self._inventory
        if run in inventory.names:
            return None
        found = inventory.automaton.find_matches_as_indexes(run, overlapping=True)
        names = [inventory.names[inventory.keys[number]] for number, _, _ in found]
        strong = [n for n in names if n.tier in {"T1", "T2"} and len(n.key) >= SHORTEST]
        return max(strong, key=lambda name: len(name.key), default=None)

    def halves(self, head: str, tail: str) -> Name | None:
        """The strong name that two pieces make up, or begin and end."""
        inventory = self._inventory
        whole = inventory.names.get(head + tail)
        if whole is not None and whole.tier in {"T1", "T2"} and len(whole.key) >= SHORTEST:
            return whole
        if len(head) < 3 or len(tail) < 3:
            return None
        at = bisect_left(inventory.by_prefix, head)
        while at < len(inventory.by_prefix) and inventory.by_prefix[at].startswith(head):
            full = inventory.by_prefix[at]
            if full.endswith(tail) and COVERED * len(full) <= len(head) + len(tail) <= len(full):
                return inventory.names[full]
            at += 1
        return None


def _plausible(window: Window, name: Name, distance: int) -> bool:
    """An unknown word; or known words alone that come closer and share one with the name."""
    if window.unknown:
        return True
    if window.slashed or distance > allowed(len(window.key), unknown=False):
        return False
    return bool(set(window.words) & {word for word in name.words if len(word) >= 4})


def _cut(window: Window, name: Name) -> bool:
    """A cut name shows an unknown word, or its first word and, joined to it, more."""
    if len(window.key) >= SHORTEST and name.tier == "T1" and window.unknown:
        return True
    return window.code and not window.slashed and len(window.key) > len(name.words[0])


def _without_vowels(key: str) -> str:
    """A key without its vowels; the first letter stays."""
    return key[:1] + key[1:].translate(_VOWELS)


def _shortened_words(words: Sequence[str]) -> str:
    """Words without their vowels; the first letter of each stays."""
    return "".join(map(_without_vowels, words))


@lru_cache(maxsize=4)
def finder(inventory: Inventory) -> Finder:
    """The one search over an inventory, so that it remembers."""
    return Finder(inventory)
