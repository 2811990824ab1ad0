"""What a name is worth: its type, its tier, and who carries it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from heldout.gate.vocabulary import MODIFIERS, Vocabulary, tokens
from heldout.split import Side

Tier = Literal["T1", "T2", "T3", "T5", "T4"]
"""``T1`` names a system in any form. ``T2``: two plain words that nobody puts together. ``T3``: two
plain words that people do. ``T5``: one plain word. ``T4``: a public word, never an identifier."""

Kind = Literal["resource", "person", "place", "key", "value", "log", "alert", "canary", "part"]
Role = Literal["culprit", "decoy", "noise", "truth"]

STRENGTH: dict[Tier, int] = {"T1": 0, "T2": 1, "T3": 2, "T5": 3, "T4": 4}
MIN_NAME = 4
MIN_PART = 5
"""A single unknown word shorter than this is no identifier on its own."""

_OPAQUE = re.compile(r"(?=[a-z0-9]*[a-z])(?=[a-z0-9]*[0-9])[a-z0-9]{5,}", re.IGNORECASE)
_PUBLIC = re.compile(
    r"(?:[a-z]{2}-)?(?:us|eu|ap|sa|ca|me|af|il)-(?:gov-)?[a-z]+-?\d[a-z]?|[a-z]{1,4}\d[a-z]{0,3}"
    r"(?:\.(?:\d*x?large|medium|small|micro|nano|metal))?|v\d+(?:(?:alpha|beta)\d+)?"
    r"|(?:sha|aes|rsa|utf|ipv|http|tls|x|md|ecdsa|gp|io|arm|amd)-?\d+[a-z]?",
    re.IGNORECASE,
)
_HASHES = re.compile(
    r"(?:-[a-f0-9]{6,10})?-(?=[a-z0-9]*[0-9])[a-z0-9]{5}$|-[a-f0-9]{7,}$|(?:[-_.]\d+)+$"
)


@dataclass(frozen=True, slots=True)
class Carrier:
    """One incident in which a name occurs, in which role, and where it stands in it."""

    incident: str
    side: Side
    role: Role
    kind: Kind
    field: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    """One identifier: squashed ``key``, one ``surface``, its words, its tier and its carriers."""

    key: str
    surface: str
    words: tuple[str, ...]
    tier: Tier
    carriers: tuple[Carrier, ...]

    @property
    def held_out(self) -> bool:
        """True when only the test side carries it."""
        return all(carrier.side == "test" for carrier in self.carriers)

    @property
    def carrier(self) -> Carrier:
        """The carrier to show: train before test, culprit before noise."""
        return min(self.carriers, key=lambda c: (c.side == "test", c.role != "culprit", c.incident))


@dataclass(frozen=True, slots=True)
class Judged:
    """A surface with its verdict, before incidents are merged."""

    surface: str
    words: tuple[str, ...]
    tier: Tier

    @property
    def key(self) -> str:
        """Letters and digits of the surface, lower case."""
        return "".join(self.words)


def base_name(surface: str) -> str:
    """A name without what a controller appends: pod hashes, replica numbers."""
    before = ""
    while before != surface:
        before, surface = surface, _HASHES.sub("", surface)
    return surface


def judge_name(surface: str, kind: Kind, vocabulary: Vocabulary) -> Judged:
    """Tier of a name by its words; ``kind`` decides what a single plain word is worth."""
    if _PUBLIC.fullmatch(surface):
        return Judged(surface, tuple(tokens(surface)), "T4")
    words = tuple(tokens(surface))
    letters = [word for word in words if word.isalpha()]
    opaque = any(
        _OPAQUE.fullmatch(piece) and not _PUBLIC.fullmatch(piece) and _changes(piece) > 1
        for piece in re.split(r"[^A-Za-z0-9]+", surface)
    )
    telling = list(dict.fromkeys(word for word in letters if word not in MODIFIERS))
    if opaque or any(not vocabulary.known(word) for word in telling):
        return Judged(surface, words, "T1")
    return Judged(surface, words, _plain_tier(words, telling, kind, vocabulary))


def _plain_tier(
    words: tuple[str, ...], telling: list[str], kind: Kind, vocabulary: Vocabulary
) -> Tier:
    if not telling:
        return "T4"
    if len(telling) == 1:
        return _single_tier(telling[0], kind, vocabulary)
    plain = [w for w in telling if len(w) > 2 and not vocabulary.is_generic(w)]
    if kind == "alert":
        return "T3"
    if kind == "key" and vocabulary.is_field(words):
        return "T4"
    if not plain:
        return "T2" if kind == "key" and len(telling) > 2 else "T3"
    if len(telling) > 2:
        return "T1"
    return "T3" if vocabulary.is_pair(telling[0], telling[1]) else "T2"


def _single_tier(word: str, kind: Kind, vocabulary: Vocabulary) -> Tier:
    """A service called ``user`` stays a name; a field called so is a word of a public schema."""
    if kind == "key":
        return "T4" if vocabulary.is_generic(word) else "T5"
    return "T5" if kind in {"resource", "place"} and not vocabulary.is_trade(word) else "T4"


def _changes(piece: str) -> int:
    """How often a piece changes between letters and digits."""
    return sum(a.isdigit() != b.isdigit() for a, b in pairwise(piece))


def unknown_parts(judged: Judged, vocabulary: Vocabulary) -> list[str]:
    """The words of a T1 name that are identifiers on their own."""
    return [
        word
        for word in judged.words
        if word.isalpha() and len(word) >= MIN_PART and not vocabulary.known(word)
    ]
