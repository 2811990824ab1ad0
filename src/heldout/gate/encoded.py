"""Names behind an encoding: base64, hex, rot13, written backwards, digits for letters."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import ahocorasick_rs

from heldout.gate.hits import Context, Hit, line_place, name_hit
from heldout.gate.inventory import Inventory
from heldout.gate.names import Name
from heldout.gate.pages import BLANK, Place, Squashed, squash
from heldout.gate.shingles import PHRASE, content_words, shingles
from heldout.gate.views import fold

RULE = "encoded-identifier"
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,4000}={0,2}(?![A-Za-z0-9+/=])")
_HEX = re.compile(r"(?<![A-Za-z0-9])(?:0x)?((?:[0-9a-fA-F]{2}[ :]?){6,2000})(?![A-Za-z0-9])")
_WORDISH = re.compile(r"[A-Za-z0-9@$!|+][\w@$!|+./-]*[A-Za-z0-9@$!|+]")
_ALIKE = str.maketrans("01!|l3@4$5+78962", "oiiiieaassttbggz")
"""Signs and digits that stand for letters, and the letters that one sign can stand for, as one."""
_SIGNS = frozenset("0123456789@$!|+")
_NEITHER = re.compile(r"[^a-z0-9]+")
ROT13, REVERSED, DIGITS = "rot13", "reversed text", "letters as digits"
LONG = 11
"""A name this long may be pieced together over blanks in a ciphered line."""
MIN_HIDDEN = 6
"""A name shorter than this is not looked for behind ciphers that any text can pass for."""


class Decoded(NamedTuple):
    """What a piece of a line says after decoding; ``whole`` scans it like text of its own."""

    how: str
    text: str
    first: int
    last: int
    whole: bool

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Where characters ``first`` up to ``last`` of the decoded text stand in the line."""
        if self.how == ROT13:
            return self.first + first, self.first + last
        if self.how == REVERSED:
            return self.last - last, self.last - first
        return self.first, self.last


def check(context: Context) -> Iterator[Hit]:
    """Strong names (T1, T2) and sentences of truths in whatever the lines decode to."""
    for row in context.scan.folded:
        for decoded in decodings(row[2].text):
            search = _alike_names if decoded.how == DIGITS else _names
            for name, first, last in search(context.inventory, decoded.text, decoded.whole):
                yield name_hit(
                    RULE,
                    "reject",
                    line_place(row, *decoded.span(first, last)),
                    name,
                    hint=f"This is {decoded.how} for a name; leave it out",
                    strong=name.tier == "T1" and len(name.key) >= 8,
                )
            if decoded.whole:
                place = line_place(row, decoded.first, decoded.last)
                yield from _sentences(context, decoded, place)


def _sentences(context: Context, decoded: Decoded, place: Place) -> Iterator[Hit]:
    for value in shingles(decoded.text, PHRASE):
        owners = context.inventory.phrases["truth"].owners(value)
        if owners:
            yield Hit(
                RULE, "reject", place, place.source, "", "phrase", owners,
                f"This is {decoded.how} for a sentence about one incident; leave it out", True,
            )  # fmt: skip
            return


def _names(inventory: Inventory, text: str, whole: bool) -> Iterator[tuple[Name, int, int]]:
    """Strong names in decoded text, each with where it begins and ends there."""
    view = fold(text)
    folded = view.text
    bare = _NEITHER.sub("", folded.lower()) if folded.isascii() else squash(folded).text
    found = inventory.automaton.find_matches_as_indexes(bare, overlapping=True)
    if not found:
        return
    squashed = squash(folded)
    for number, first, last in found:
        name = inventory.names[inventory.keys[number]]
        if name.tier not in {"T1", "T2"} or len(name.key) < MIN_HIDDEN:
            continue
        if _alone(squashed, first, last, pieced=whole or len(name.key) >= LONG):
            start, end = squashed.at[first], squashed.at[last - 1]
            yield name, view.starts[start], view.ends[end]


def _alone(squashed: Squashed, first: int, last: int, *, pieced: bool) -> bool:
    """True for a match with both ends at ends of a word; ``pieced`` allows blanks inside."""
    if not squashed.edges[first] or (last < len(squashed.text) and not squashed.edges[last]):
        return False
    inner = squashed.edges[first + 1 : last]
    return pieced or not inner or max(inner) < BLANK


def _alike_names(inventory: Inventory, text: str, whole: bool) -> Iterator[tuple[Name, int, int]]:
    """Strong names that a word can be read as when its signs and digits stand for letters."""
    search, names = _alike(inventory)
    squashed = squash(text.lower().translate(_ALIKE))
    for number, first, last in search.find_matches_as_indexes(squashed.text, overlapping=True):
        if _alone(squashed, first, last, pieced=whole):
            yield names[number], squashed.at[first], squashed.at[last - 1] + 1


@lru_cache(maxsize=4)
def _alike(inventory: Inventory) -> tuple[ahocorasick_rs.AhoCorasick, list[Name]]:
    names = [name for name in inventory.strong if len(name.key) >= MIN_HIDDEN]
    keys = [name.key.translate(_ALIKE) for name in names]
    return ahocorasick_rs.AhoCorasick(keys, store_patterns=False), names


@lru_cache(maxsize=20_000)
def decodings(line: str) -> tuple[Decoded, ...]:
    """Everything that a folded line may say after decoding, with its span in the line."""
    return tuple(_decodings(line))


def _decodings(line: str) -> Iterable[Decoded]:
    if not line.strip():
        return
    for match in _BASE64.finditer(line):
        text = _base64(match.group())
        if text:
            yield Decoded("base64", text, match.start(), match.end(), True)
    for match in _HEX.finditer(line):
        text = _hex(match[1])
        if text:
            yield Decoded("hex", text, match.start(), match.end(), True)
    end = len(line)
    if any(len(word.stem) >= 3 for word in content_words(line)):
        yield Decoded(ROT13, codecs.encode(line, "rot13"), 0, end, False)
        yield Decoded(REVERSED, line[::-1], 0, end, False)
    for match in _WORDISH.finditer(line):
        word = match.group()
        if not _SIGNS.isdisjoint(word) and any(c.isalpha() for c in word):
            yield Decoded(DIGITS, word, *match.span(), False)


def _base64(text: str) -> str:
    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1:
        return ""
    try:
        raw = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return _printable(raw)


def _hex(text: str) -> str:
    return _printable(bytes.fromhex(re.sub(r"[ :]", "", text)))


def _printable(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return ""
    return text if all(c.isprintable() or c in "\n\t" for c in text) else ""
