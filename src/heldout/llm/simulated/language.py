"""Plain English, read just well enough: sentences, stems, clauses, negation and lengths of time.

Nothing here knows what a line is about; :mod:`.lexicon` holds the words and :mod:`.concepts` the
meanings. Negation is a scope over the words of a clause, so that "never conclude before you have
looked at earlier days" asks for looking while "do not look at earlier days" forbids it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_CONTRACTIONS = (
    (re.compile(r"\bcan(?:'|’)t\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon(?:'|’)t\b"), "will not"),
    (re.compile(r"n(?:'|’)t\b"), " not"),
    (re.compile(r"(?:'|’)(?:s|re|ve|ll|d|m)\b"), ""),
)
_WORD = re.compile(r"[a-z]+(?:_[a-z]+)*|\d+(?:\.\d+)?|[,;:()]|\s[-–—]+\s|—")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)*_`]*\s+")
_IRREGULAR = {
    "found": "find", "began": "begin", "begun": "begin", "went": "go", "gone": "go", "going": "go",
    "came": "com", "became": "becom", "wrote": "writ", "written": "writ", "taken": "tak",
    "took": "tak", "made": "mak", "kept": "keep", "held": "hold", "sought": "seek",
    "broke": "break", "broken": "break", "saw": "see", "seen": "see", "gave": "giv",
    "given": "giv", "laid": "lay", "lain": "li", "lies": "li", "lie": "li", "lying": "li",
    "chosen": "choos", "chose": "choos", "brought": "bring", "put": "put",
    "putting": "put", "setting": "setting", "settings": "setting", "during": "during",
    "morning": "morning", "evening": "evening", "news": "news", "this": "this", "less": "less",
    "does": "do", "did": "do", "done": "do", "doing": "do", "has": "hav", "had": "hav",
    "was": "be", "were": "be", "is": "be", "are": "be", "been": "be", "being": "be",
    "analyse": "analyz", "analysed": "analyz", "analysing": "analyz",
    "farther": "further", "backwards": "backward", "nothing": "nothing", "something": "something",
    "anything": "anything", "everything": "everything", "wrong": "wrong", "previous": "previous",
    "lagging": "lag", "led": "lead", "drove": "driv", "driven": "driv", "left": "leav",
    "understood": "understand", "knew": "know", "known": "know", "told": "tell",
    "sibling": "sibling", "siblings": "sibling", "dug": "dig", "used": "use", "using": "use",
    "got": "get", "gotten": "get", "need": "need", "note": "note", "notes": "note", "noted": "note", "needs": "need", "landed": "land", "past": "past",
}  # fmt: skip


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A crude stem: the same for a word's forms, whatever it looks like."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if "_" in word or word[:1].isdigit():
        return word
    for ending, put in (("ies", "y"), ("ied", "y"), ("ying", "y"), ("ing", ""), ("ed", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + put
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            return word.rstrip("e") if len(word) > 3 else word
    if word.endswith("s") and len(word) > 3 and word[-2] not in "su":
        word = word[:-1]
        if word.endswith(("she", "che", "sse", "xe")):
            word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def stems(words: str) -> frozenset[str]:
    """The stems of words given as one text."""
    return frozenset(stem(word) for word in words.split())


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a sentence: its stem, whether it stands affirmed, and after a "not before"."""

    stem: str
    affirmed: bool
    clause: int
    required: bool = False
    """True after "never ... before/until/without": what follows is demanded."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as tokens (punctuation dropped)."""

    tokens: tuple[Token, ...]
    question: bool
    text: str


_BREAKS = frozenset(",;:()")
_BREAK_WORDS = stems(
    "but so then because when whenever if while although though even where until unless"
)
_ASKING = stems(
    "ask find out determine establish identify know see check learn tell up and or note "
    "investigate verify examine understand question wonder since"
)
"""Before "when" or "where" these make a question of it, not a new clause."""
_QUESTIONS = stems("when where if while")
_NEGATORS = stems("not never no neither nor nobody nothing hardly seldom")
_SOFT = stems("only just merely simply solely")
_REFUSALS = stems(
    "avoid skip ignore refrain disregard omit unnecessary pointless useless needless "
    "superfluous forbid forbidden prohibit discourage irrelevant neglect overkill"
)
_WASTE = stem("waste")
_ENDINGS = stems(
    "stop conclude settle submit finish end answer blame name accuse pick choose trust report "
    "decide diagnose close declare write rest quit judge rely limit restrict confine bound assume "
    "accept stick guess leave propose commit convict invent"
)
_UNTIL = stems("before until unless without till")
_WITHOUT = stem("without")
_INSTEAD = {stem("rather"): "than", stem("instead"): "of"}


class _Scope:
    """The running state of negation while a sentence is read from left to right."""

    __slots__ = ("ended", "positive", "required")

    def __init__(self) -> None:
        self.fresh()

    def fresh(self) -> None:
        self.positive, self.ended, self.required = True, False, False

    def word(self, word: str, following: str) -> None:
        """Move on over one word."""
        if word in _NEGATORS and following not in _SOFT:
            self.positive = not self.positive
        elif word in _UNTIL and not self.positive and self.ended:
            self.fresh()
            self.required = True
        elif word == _WITHOUT or _INSTEAD.get(word) == following:
            self.positive = False
        elif word == "and" and not self.positive and self.ended:
            self.fresh()
        elif word in _ENDINGS and not self.positive:
            self.ended = True


def _tokens(words: list[str]) -> tuple[Token, ...]:
    """Stems with their polarity; a refusing word ("can be ignored") turns its whole clause."""
    rows: list[tuple[str, bool, int, bool]] = []
    turned: set[int] = set()
    spared: set[int] = set()
    wasted: set[int] = set()
    scope, clause = _Scope(), 0
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        if word in _BREAKS:
            scope.fresh()
            clause += 1
            continue
        until = word in _UNTIL and not scope.positive and scope.ended
        asked = word in _QUESTIONS and index and words[index - 1] in _ASKING
        if word in _BREAK_WORDS and not until and not asked:
            scope.fresh()
            clause += 1
        scope.word(word, following)
        if word == _WASTE:
            wasted.add(clause)
        elif word in _REFUSALS and not scope.required:
            (turned if scope.positive else spared).add(clause)
        rows.append((word, scope.positive, clause, scope.required))
    return tuple(
        Token(
            word,
            where not in wasted and (where in spared or (positive and where not in turned)),
            where,
            required,
        )
        for word, positive, where, required in rows
    )


@lru_cache(maxsize=8192)
def read_sentence(text: str) -> Sentence:
    """One sentence as tokens."""
    lowered = text.lower()
    for pattern, put in _CONTRACTIONS:
        lowered = pattern.sub(put, lowered)
    words = [
        stem(found) if found[:1].isalnum() else (found if found in _BREAKS else ",")
        for found in map(str.strip, _WORD.findall(lowered))
    ]
    return Sentence(_tokens(words), lowered.rstrip('"”’)*_` ').endswith("?"), text)


def paragraphs(text: str) -> list[str]:
    """Bullets, headings and paragraphs, each on one line with its wrapped lines joined."""
    result: list[str] = []
    joined = False
    for line in text.splitlines():
        bare = line.strip()
        heading = bare.startswith("#")
        if not bare or bare == "---":
            joined = False
        elif heading or _BULLET.match(line) or not joined:
            result.append(_BULLET.sub("", bare).lstrip("# ").strip())
            joined = not heading
        else:
            result[-1] += " " + bare
    return [entry for entry in result if entry]


def sentences(paragraph: str) -> list[Sentence]:
    """The sentences of one paragraph."""
    return [read_sentence(part) for part in _SENTENCE.split(paragraph) if part.strip()]


_COUNT_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_AMOUNTS: dict[str, float] = {
    **{stem(word): float(number) for number, word in enumerate(_COUNT_WORDS)},
    **{stem(word): 3.0 for word in ("several", "some", "multiple", "few")},
    **{"a": 1.0, "an": 1.0, stem("couple"): 2.0, "pair": 2.0, "many": 4.0},
    **{"thirty": 30.0, "sixty": 60.0, "ninety": 90.0},
}
_FILLERS = stems("full whole of or more calendar entire")
_UNITS = {
    stem(word): days
    for words, days in (
        ("hour h", 1 / 24), ("day d", 1.0), ("week w", 7.0), ("month", 30.0),
        ("fortnight", 14.0), ("minute min", 1 / 1440), ("year", 365.0),
    )
    for word in words.split()
}  # fmt: skip
_OFTEN = stems("every each per once twice")
_RECENT = stems("last previous past preceding prior recent")
VAGUE_DAYS = 14.0
"""How far "the last days" or "much earlier" reaches when no number is given."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time at a position of a sentence, e.g. "two weeks", "the past days"."""

    at: int
    days: float


def _amount(words: list[str], at: int) -> tuple[float | None, int]:
    """The number standing before position ``at`` and where it begins."""
    back = at - 1
    while back >= 0 and words[back] in _FILLERS:
        back -= 1
    if back < 0:
        return None, at
    word = words[back]
    number = float(word) if word[:1].isdigit() else _AMOUNTS.get(word)
    if number is None:
        return None, at
    if word in {"few", stem("couple")} and back and words[back - 1] == "a":
        back -= 1
    return number, back


def lengths(sentence: Sentence) -> list[Length]:
    """Every length of time; "every week" and "per day" are frequencies and left out."""
    words = [token.stem for token in sentence.tokens]
    found: list[Length] = []
    for at, word in enumerate(words):
        unit = _UNITS.get(word)
        if unit is None or (len(word) == 1 and not (at and words[at - 1][:1].isdigit())):
            continue
        amount, begin = _amount(words, at)
        before = words[begin - 1] if begin else ""
        near = words[at - 1] if at else ""
        if before in _OFTEN or near in _OFTEN:
            continue
        if amount is not None:
            found.append(Length(at, amount * unit))
        elif unit > 1:
            found.append(Length(at, unit))
        elif unit == 1 and near in _RECENT:
            found.append(Length(at, VAGUE_DAYS))
    return found
