"""Which words say nothing about whose system it is.

The lists stand in ``words/`` with their NOTICE: English, everyday operations, public schemas,
software products, and word pairs that any operations text may hold.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from importlib.resources import files

_LISTS = ("operations.txt", "schema.txt", "products.txt", "pairs.txt")
_ENGLISH = "english.txt.gz"
_SUFFIXES = (
    "'s", "ability", "ities", "ization", "isation", "ness", "able", "ings", "ing", "ies", "ied",
    "ers", "ors", "est", "er", "or", "ed", "es", "ly", "s", "d",
)  # fmt: skip
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
        packed = (folder / _ENGLISH).read_bytes()
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in _LISTS}
        digest = hashlib.sha256(packed)
        for name in _LISTS:
            digest.update(texts[name].encode())
        self.hash = digest.hexdigest()
        self.english = frozenset(gzip.decompress(packed).decode().split())
        self.schema = frozenset(_words(texts["schema.txt"]))
        self.products = frozenset(_words(texts["products.txt"]))
        self.operations = frozenset(_words(texts["operations.txt"]))
        self.pairs = frozenset(
            tuple(sorted(line.split()))
            for line in texts["pairs.txt"].splitlines()
            if line and not line.startswith("#")
        )
        self.known = lru_cache(maxsize=200_000)(self._known)

    @cached_property
    def generic(self) -> frozenset[str]:
        """Words of the trade: operations, schemas and products."""
        return self.operations | self.schema | self.products

    def is_generic(self, word: str) -> bool:
        """True for a word of the trade, in the singular or the plural."""
        return any(form in self.generic for form in _forms(word, ("s", "es", "ies")))

    def is_pair(self, first: str, second: str) -> bool:
        """True for two words that any operations text may put side by side, in either order."""
        return any(
            tuple(sorted((a, b))) in self.pairs
            for a in _forms(first, ("s", "es", "ies"))
            for b in _forms(second, ("s", "es", "ies"))
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


def _words(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith("#"):
            yield from line.split()


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary:
    """The one vocabulary of this process."""
    return Vocabulary()
