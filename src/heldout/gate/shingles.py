"""Hashed runs of content words: how a copied sentence is recognised, whatever stands around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

PHRASE = 5
"""Content words of truth, alert and judge reasoning that must not follow each other."""
TITLE = 6
"""Content words of change titles."""

_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_TOKEN = re.compile(r"[^\s,;()\"'`]+")
_JOINED = re.compile(r"\w[-_./:@=]\w")
_STOP_WORDS = (
    "a an the of to in on at by for from with without and or nor but if then than that this "
    "these those it its is are was were be been being am do does did have has had as into "
    "onto over under up out so not no can could may might must shall should will would which "
    "who whom whose what when where why how there here their they them he she his her we our "
    "you your i my me us all any each every both either such same own just only very more "
    "most less least also after before while during until since per via because"
)
_STOP = frozenset(_STOP_WORDS.split())
_ENDINGS = ("ing", "ed", "es", "ly", "s", "e")


class Word(NamedTuple):
    """A content word and where it stands in its folded line."""

    stem: str
    start: int
    end: int
    text: str


@lru_cache(maxsize=20_000)
def content_words(line: str) -> tuple[Word, ...]:
    """The stemmed content words of a folded line, remembered."""
    return _content_words(line)


def _content_words(line: str) -> tuple[Word, ...]:
    """Numbers, units and other short things are left out: they are what a copy alters first."""
    return tuple(
        Word(_stem(word), match.start(), match.end(), word)
        for match in _WORD.finditer(line)
        if len(word := match.group().lower()) > 2 and word not in _STOP and _is_word(word)
    )


def _is_word(word: str) -> bool:
    return word.replace("'", "").isalpha()


def shingle(words: Sequence[str]) -> int:
    """64-bit hash of a run of stems."""
    return _hash(tuple(words))


def shingles(text: str, size: int, known: Callable[[str], bool] | None = None) -> set[int]:
    """Every run of ``size`` content words within one sentence of a text.

    With ``known``, also the runs that are left once joined words (``amber-otter:v3``) and words
    that it does not know are taken out: a copy with pronouns for its names is still a copy.
    """
    found: set[int] = set()
    for sentence in _sentences(text):
        found.update(_runs(_content_words(sentence), size))
        if known is not None:
            words = _content_words(_TOKEN.sub(_unless_joined, sentence))
            found.update(_runs([word for word in words if known(word.text)], size))
    return found


def _unless_joined(token: re.Match[str]) -> str:
    """A token, or a blank for one that is written like a name."""
    return " " if _JOINED.search(token.group()) else token.group()


def _sentences(text: str) -> Iterable[str]:
    return re.split(r"(?<=[.!?])\s+|\n\s*\n|\n(?=[-*#])", text)


def _runs(words: Sequence[Word], size: int) -> Iterator[int]:
    stems = [word.stem for word in words]
    for at in range(len(stems) - size + 1):
        yield shingle(stems[at : at + size])


@lru_cache(maxsize=400_000)
def _hash(words: tuple[str, ...]) -> int:
    digest = blake2b(" ".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
