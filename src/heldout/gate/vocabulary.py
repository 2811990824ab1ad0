"""Which words say nothing about whose system it is.

The lists stand in ``words/`` with their NOTICE. English, the words of public schemas and the pairs
of their prose are generated (``words/generate.py``); the words of daily operations, products,
abbreviations and places, and further pairs are written by hand.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files

LISTS = (
    "english.txt.gz", "schema.txt.gz", "pairs.txt.gz", "operations.txt", "products.txt",
    "everyday.txt", "compounds.txt",
)  # fmt: skip
"""The files of ``words/`` that make up the vocabulary."""
_SUFFIXES = (
    "'s", "ability", "ities", "ization", "isation", "ness", "able", "ings", "ing", "ies", "ied",
    "ers", "ors", "est", "er", "or", "ed", "es", "ly", "s", "d",
)  # fmt: skip
_PLURALS = ("s", "es", "ies")
_DOING = ("er", "or", "ers", "ors", "ing")
_PREFIXES = (
    "over", "under", "auto", "multi", "inter", "micro", "super", "pre", "non", "mis", "sub", "dis",
    "un", "re", "de", "co",
)  # fmt: skip

_MODIFIER_WORDS = (
    "service services svc api server servers app apps application worker workers prod "
    "production staging stage stg dev test qa uat eu us ap sa af me ca west east north south "
    "central northeast southeast northwest southwest primary secondary default main internal "
    "external public private v a b c d e f g h i j k l m n o p q r s t u w x y z the of and "
    "for to in on at by an or is it as be az zone region"
)
MODIFIERS = frozenset(_MODIFIER_WORDS.split())
"""Words that add nothing to a name: environments, places, the kind of thing it is."""

_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers of a name: split at separators, camelCase, letter/digit."""
    return [token.lower() for token in _TOKEN.findall(text)]


class Vocabulary:
    """The word lists in memory."""

    def __init__(self) -> None:
        folder = files("heldout.gate") / "words"
        digest = hashlib.sha256()
        lists: dict[str, list[str]] = {}
        for name in LISTS:
            raw = (folder / name).read_bytes()
            digest.update(name.encode() + b"\0" + raw)
            text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
            lists[name] = [line for line in text.splitlines() if not line.startswith("#")]
        self.hash = digest.hexdigest()
        self.english = frozenset(_words(lists["english.txt.gz"]))
        self.schema = frozenset(_words(lists["schema.txt.gz"]))
        self.products = frozenset(_words(lists["products.txt"]))
        self.operations = frozenset(_words(lists["operations.txt"]))
        self.everyday = frozenset(_words(lists["everyday.txt"]))
        self.generic = self.operations | self.products | self.schema | self.everyday
        self._trade = self.operations | self.products
        pairs = (*lists["pairs.txt.gz"], *lists["compounds.txt"])
        self.pairs = frozenset(tuple(sorted(line.split())) for line in pairs)
        self.known = lru_cache(maxsize=200_000)(self._known)

    def is_trade(self, word: str) -> bool:
        """True for a word of operations or a product: nobody's service is told by it."""
        return any(form in self._trade for form in _forms(word, _PLURALS + _DOING))

    def is_generic(self, word: str) -> bool:
        """True for a word of any list but English, in the singular or the plural."""
        return self.is_trade(word) or any(form in self.generic for form in _forms(word, _PLURALS))

    def is_field(self, words: Iterable[str]) -> bool:
        """True for the words of a field of a public schema, in their order."""
        return "".join(words) in self.schema

    def is_pair(self, first: str, second: str) -> bool:
        """True for two words that any operations text may put side by side, in either order."""
        return any(
            tuple(sorted((a, b))) in self.pairs
            for a in _forms(first, _PLURALS)
            for b in _forms(second, _PLURALS)
        )

    def _known(self, word: str) -> bool:
        if word.isdigit() or len(word) < 3 or self._listed(word):
            return True
        if any(self._listed(form) for form in _forms(word, _SUFFIXES)):
            return True
        for prefix in _PREFIXES:
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) >= 4 and self.known(rest):
                return True
        return any(
            word[:cut] in self.generic and word[cut:] in self.generic
            for cut in range(3, len(word) - 2)
        )

    def _listed(self, word: str) -> bool:
        return word in self.english or word in self.generic


def _forms(word: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """The word and what may stand before its suffix (cut, plus e, plus y, doubled letter off)."""
    yield word
    for suffix in suffixes:
        stem = word.removesuffix(suffix)
        if stem == word or len(stem) < 3:
            continue
        yield stem
        yield stem + "e"
        if suffix in {"ies", "ied", "ities"}:
            yield stem + "y"
        if len(stem) > 3 and stem[-1] == stem[-2]:
            yield stem[:-1]


def _words(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from line.split()


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary:
    """The one vocabulary of this process."""
    return Vocabulary()
