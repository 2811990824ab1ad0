"""Names behind an encoding: base64, hex, rot13, written backwards, digits for letters."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from heldout.gate.hits import Context, Hit, line_place, name_hit
from heldout.gate.inventory import Inventory
from heldout.gate.names import Name
from heldout.gate.pages import Place, squash
from heldout.gate.shingles import PHRASE, content_words, shingles
from heldout.gate.views import fold

RULE = "encoded-identifier"
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,4000}={0,2}(?![A-Za-z0-9+/=])")
_HEX = re.compile(r"(?<![A-Za-z0-9])(?:0x)?((?:[0-9a-fA-F]{2}[ :]?){6,2000})(?![A-Za-z0-9])")
_WORDISH = re.compile(r"[A-Za-z0-9@$!|+][\w@$!|+./-]*[A-Za-z0-9@$!|+]")
_LEET = (
    str.maketrans("013457@$!|+", "oieastasiit"),
    str.maketrans("013456789@$!|+", "oleasgtbgasllt"),
)
_NEITHER = re.compile(r"[^a-z0-9]+")
MIN_HIDDEN = 6
"""A name shorter than this is not looked for behind ciphers that any text can pass for."""


class Decoded(NamedTuple):
    """What a piece of a line says after decoding; ``whole`` scans it like text of its own."""

    how: str
    text: str
    first: int
    last: int
    whole: bool


def check(context: Context) -> Iterator[Hit]:
    """Strong names (T1, T2) and sentences of truths in whatever the lines decode to."""
    for row in context.scan.folded:
        view = row[2]
        for decoded in decodings(view.text):
            place = line_place(row, decoded.first, decoded.last)
            for name in _names(context.inventory, decoded.text, decoded.whole):
                yield name_hit(
                    RULE,
                    "reject",
                    place,
                    name,
                    hint=f"This is {decoded.how} for a name; leave it out",
                    strong=name.tier == "T1" and len(name.key) >= 8,
                )
            if decoded.whole:
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


def _names(inventory: Inventory, text: str, whole: bool) -> Iterator[Name]:
    folded = text if text.isascii() else fold(text).text
    bare = _NEITHER.sub("", folded.lower()) if folded.isascii() else squash(folded).text
    found = inventory.automaton.find_matches_as_indexes(bare, overlapping=True) if bare else []
    if not found:
        return
    squashed = squash(folded)
    length = len(squashed.text)
    for number, first, last in found:
        name = inventory.names[inventory.keys[number]]
        bounded = squashed.edges[first] and (last == length or squashed.edges[last])
        if name.tier in {"T1", "T2"} and len(name.key) >= MIN_HIDDEN and bounded:
            inner = squashed.edges[first + 1 : last]
            if whole or not inner or max(inner) < 3 or len(name.key) >= 11:
                yield name


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
        yield Decoded("rot13", codecs.encode(line, "rot13"), 0, end, False)
        yield Decoded("reversed text", line[::-1], 0, end, False)
    for match in _WORDISH.finditer(line):
        word = match.group()
        if any(c in "013456789@$!|+" for c in word) and any(c.isalpha() for c in word):
            for table in _LEET:
                yield Decoded("letters as digits", word.translate(table), *match.span(), False)


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
