"""Text as a reader would take it, with a map back to what was written.

A view undoes what hides a word from a search and not from a reader: Unicode look-alikes, invisible
characters, HTML entities, percent and ``\\u`` escapes, Markdown marks. Each of its characters knows
the span of the source that it came from.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

_CONFUSABLE = str.maketrans(
    "авгԁеһіјкӏмոорԛгѕтսѵԝхуᴢαβγεηικνορτυχωℓɑɡıȷɩʟᴏᴠᴡʏѐёѓї"
    "АВСЕНІЈКМОРЅТХУΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abrdehijklmnopqrstuvwxyzabyenikvoptuxwlagijilovwyeeri"
    "ABCEHIJKMOPSTXYABEZHIKMNOPTYX",
)  # fmt: skip
_CONFUSABLE |= str.maketrans("сƅϲҫʀøđł—–‑−‐∕⁄․", "cbccrodl-----//.")
_LIGATURE = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe"})
_ESCAPE = re.compile(
    r"&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"
    r"|(?:%[0-9a-fA-F]{2})+"
    r"|\\u\{[0-9a-fA-F]{1,6}\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
    r"|\\(?=[!-/:-@\[-`{-~])"
    r"|[*`~]+"
)
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]{0,200}>"
    r"|\[(?=[^\[\]\n]{1,200}\]\()|(?<=[^\[\]\n])\]\([^()\n]{0,200}\)",
    re.DOTALL,
)
_INVISIBLE = frozenset({"Cf", "Mn", "Me", "Cc", "Cs", "Co", "Cn"})
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")


@dataclass(frozen=True, slots=True)
class View:
    """Folded text; character ``i`` came from ``source[starts[i]:ends[i]]``."""

    text: str
    starts: tuple[int, ...] | range
    ends: tuple[int, ...] | range

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The source span of view characters ``first`` up to, not including, ``last``."""
        return self.starts[first], self.ends[last - 1]


@lru_cache(maxsize=20_000)
def fold(line: str) -> View:
    """The view of one line (or of any text): everything undone that hides a word."""
    if line.isascii() and line.isprintable() and not _ESCAPE.search(line):
        return View(line, range(len(line)), range(1, len(line) + 1))
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def add(text: str, start: int, end: int) -> None:
        for character in _plain(text):
            characters.append(character)
            starts.append(start)
            ends.append(end)

    at = 0
    for match in _ESCAPE.finditer(line):
        for index in range(at, match.start()):
            add(line[index], index, index + 1)
        add(_decoded(match.group()), match.start(), match.end())
        at = match.end()
    for index in range(at, len(line)):
        add(line[index], index, index + 1)
    return View("".join(characters), tuple(starts), tuple(ends))


def without_markup(text: str) -> View | None:
    """The text without HTML comments, tags and link targets; ``None`` where all is plain."""
    if "<" not in text and "](" not in text:
        return None
    kept: list[int] = []
    at = 0
    for match in _MARKUP.finditer(text):
        kept.extend(range(at, match.start()))
        at = match.end()
    if not at:
        return None
    kept.extend(range(at, len(text)))
    return View("".join(text[i] for i in kept), tuple(kept), tuple(i + 1 for i in kept))


@lru_cache(maxsize=5_000)
def _plain(text: str) -> str:
    """NFKD, invisible characters dropped, look-alikes replaced."""
    if text.isascii() and text.isprintable():
        return text
    if text == "\t":
        return " "
    result = []
    for character in unicodedata.normalize(
        "NFKD", text.translate(_CONFUSABLE).translate(_LIGATURE)
    ):
        if character in _FILLERS or unicodedata.category(character) in _INVISIBLE:
            continue
        folded = character.translate(_CONFUSABLE)
        result.append(" " if folded.isspace() else folded)
    return "".join(result)


def _decoded(escape: str) -> str:
    """What an escape stands for; Markdown marks and backslashes stand for nothing."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "%":
        try:
            text = unquote_to_bytes(escape).decode()
        except UnicodeDecodeError:
            return escape
        return text if text.isprintable() else escape
    if escape[0] == "\\" and len(escape) > 1:
        number = int(escape[2:].strip("{}"), 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ""
    return ""
