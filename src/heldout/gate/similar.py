"""Names with typos, cut short, without vowels, with their words in another order, or in two halves.

Only what is no plain prose is looked at: windows of one to four words that hold an unknown word or
are written as code.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from heldout.gate.hits import Context, Hit, line_place, name_hit
from heldout.gate.inventory import Inventory, consonants
from heldout.gate.names import Name
from heldout.gate.pages import Page
from heldout.gate.views import View
from heldout.gate.vocabulary import Vocabulary

RULE = "similar-identifier"
WINDOW = 4
SHORTEST = 6
KEPT = 0.6
"""A cut name must keep this share of its characters."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_QUOTED = re.compile(r"[`'\"‘“]([A-Za-z0-9][A-Za-z0-9._-]{2,60})[-.`'\"’”…]")
_JOINTS = frozenset("-_./:@")


class Window(NamedTuple):
    """One to four neighbouring words of a folded line."""

    key: str
    words: tuple[str, ...]
    first: int
    last: int
    code: bool
    unknown: bool


def check(context: Context) -> Iterator[Hit]:
    """Windows that come close to a strong name and are not that name."""
    search = finder(context.inventory)
    rows = context.scan.folded
    found = [(row, windows(row[2].text, context.inventory.vocabulary)) for row in rows]
    search.prepare([window for _, line in found for window in line])
    for row, line in found:
        best: list[tuple[Window, Name, str]] = []
        for window in line:
            match = search.match(window)
            if match is not None:
                best.append((window, *match))
        for window, name, how in _apart(best):
            place = line_place(row, window.first, window.last)
            yield name_hit(RULE, "reject", place, name, hint=f"Reads like a name, {how}")
        yield from _halves(row, search)


def _apart(found: list[tuple[Window, Name, str]]) -> Iterator[tuple[Window, Name, str]]:
    """The longest of overlapping windows."""
    taken: list[tuple[int, int]] = []
    for window, name, how in sorted(found, key=lambda f: f[0].first - f[0].last):
        if all(window.last <= first or window.first >= last for first, last in taken):
            taken.append((window.first, window.last))
            yield window, name, how


@lru_cache(maxsize=20_000)
def windows(line: str, vocabulary: Vocabulary) -> tuple[Window, ...]:
    """The windows of a folded line that are worth a look."""
    words = list(_WORD.finditer(line))
    lower = [word.group().lower() for word in words]
    unknown = [w.isalpha() and len(w) > 3 and not vocabulary.known(w) for w in lower]
    found: list[Window] = []
    for at in range(len(words)):
        key, joined, strange = "", True, False
        for end in range(at, min(at + WINDOW, len(words))):
            gap = line[words[end - 1].end() : words[end].start()] if end > at else ""
            if end > at and (len(gap) > 2 or (gap.strip() and not _JOINTS.issuperset(gap.strip()))):
                break
            joined = joined and " " not in gap
            key += lower[end]
            strange = strange or unknown[end]
            if not unknown[at] and not unknown[end] and not joined:
                continue
            code = end > at and joined
            if len(key) >= SHORTEST - 1 and (code or strange) and not key.isdigit():
                first, last = words[at].start(), words[end].end()
                found.append(Window(key, tuple(lower[at : end + 1]), first, last, code, strange))
    return tuple(found)


def allowed(length: int) -> int:
    """How many edits a name of this length may be away."""
    if length < SHORTEST:
        return 0
    return 1 if length <= 9 else 2 if length <= 15 else 3


class Finder:
    """Fuzzy search over the strong names of one inventory; it remembers every window."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._keys = [name.key for name in inventory.strong]
        self._near: dict[str, int] = {}

    def prepare(self, found: Sequence[Window]) -> None:
        """Measure all new windows at once, blocked by length."""
        by_length: dict[int, list[str]] = {}
        for key in dict.fromkeys(window.key for window in found):
            if key not in self._near and key not in self._inventory.names:
                by_length.setdefault(len(key), []).append(key)
        for length, keys in by_length.items():
            self._measure(length, keys)
        if len(self._near) > 500_000:
            self._near.clear()

    def _measure(self, length: int, keys: list[str]) -> None:
        limit = allowed(length)
        part = self._inventory.between(max(SHORTEST, length - limit), length + limit)
        names = self._keys[part]
        self._near.update(dict.fromkeys(keys, -1))
        if not limit or not names:
            return
        distances = cdist(
            keys, names, scorer=Levenshtein.distance, score_cutoff=limit, dtype=np.uint8
        )
        nearest = distances.argmin(axis=1)
        for row, column in enumerate(nearest.tolist()):
            if distances[row, column] <= min(limit, allowed(len(names[column]))):
                self._near[keys[row]] = part.start + column

    def match(self, window: Window) -> tuple[Name, str] | None:
        """The name that a window comes close to, and how; ``None`` for the name itself."""
        inventory = self._inventory
        if window.key in inventory.names:
            return None
        near = self._near.get(window.key, -1)
        if near >= 0 and self._plausible(window, inventory.strong[near]):
            return inventory.strong[near], "misspelt"
        if len(window.words) > 1:
            name = inventory.by_words.get(tuple(sorted(window.words)))
            if name is not None and (window.code or window.unknown):
                return name, "its words in another order"
        return self._shortened(window)

    def _plausible(self, window: Window, name: Name) -> bool:
        """The window needs an unknown word, or one word of the name left as it is."""
        return window.unknown or self._shares(window, name)

    def _shares(self, window: Window, name: Name) -> bool:
        """False where all words are plain and other than the name's: another name altogether."""
        return bool(set(window.words) & {w for w in name.words if len(w) >= 4})

    def _shortened(self, window: Window) -> tuple[Name, str] | None:
        inventory, key = self._inventory, window.key
        if len(key) < SHORTEST:
            return None
        if consonants(key) == key and key in inventory.by_consonants:
            return inventory.by_consonants[key], "without its vowels"
        at = bisect_left(inventory.by_prefix, key)
        if at < len(inventory.by_prefix):
            full = inventory.by_prefix[at]
            if full.startswith(key) and len(key) >= KEPT * len(full):
                name = inventory.names[full]
                if _cut(window, name):
                    return name, "cut short"
        return None

    def halves(self, head: str, tail: str) -> Name | None:
        """A name that begins with ``head`` and ends with ``tail``, nearly covered by both."""
        inventory = self._inventory
        at = bisect_left(inventory.by_prefix, head)
        while at < len(inventory.by_prefix) and inventory.by_prefix[at].startswith(head):
            full = inventory.by_prefix[at]
            if full.endswith(tail) and len(head) + len(tail) >= 0.7 * len(full):
                return inventory.names[full]
            at += 1
        return None


def _cut(window: Window, name: Name) -> bool:
    """A cut name must show more than its first plain word."""
    if name.tier == "T1" and window.unknown:
        return True
    return window.code and len(window.key) > len(name.words[0]) + 2


def _halves(row: tuple[Page, int, View], search: Finder) -> Iterator[Hit]:
    text = row[2].text
    pieces = [(m, re.sub(r"[^a-z0-9]", "", m[1].lower())) for m in _QUOTED.finditer(text)]
    for (first, head), (second, tail) in pairwise(pieces):
        if len(head) >= 3 and len(tail) >= 3 and len(head) + len(tail) >= 8:
            name = search.halves(head, tail)
            if name is not None and name.key not in {head, tail}:
                place = line_place(row, first.start(1), second.end(1))
                yield name_hit(RULE, "reject", place, name, hint="Two halves of one name")


@lru_cache(maxsize=4)
def finder(inventory: Inventory) -> Finder:
    """The one search over an inventory, so that it remembers."""
    return Finder(inventory)
