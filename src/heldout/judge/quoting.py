"""A submission as a judging model may see it: quoted, bounded, and without words to the judge.

Three things stand between an answer and whoever judges it. Its ids are judged in code, so no text
can make a wrong one right. Its prose stands between delimiters that hold a number drawn anew for
every question, so it cannot close its own quotation. And sentences that speak to a judge instead of
about the failure are taken out: that list cannot be complete, and nothing else rests on it.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from itertools import pairwise

from heldout.terminal import visible

LONGEST = 4000
"""Characters of one field that a judging model sees; as many as the exact judge reads."""

REMOVED = "[...]"
"""Stands where words to the judge were."""

_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?=\s|$|[\"'”»])|\n|$)|[^.!?\n]*[.!?]")

_JUDGE = (
    r"(?:judge|grader|evaluator|reviewer|scorer|marker|examiner|assessor|rater|grading\s+model)"
)
_MARK = r"(?:mark|grade|score|rate|count|accept|judge|treat|label|record|classify|assess|evaluate)"
_GOOD = r"(?:correct|right|pass(?:ed|ing)?|true|full\s+(?:marks|credit|points)|same|valid|accurate)"
_APPEALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:ignore|disregard|forget)\b[^.\n]{0,40}"
        r"\b(?:instructions?|prompt|rubric|guidelines|criteri\w+|questions?|above|previous|prior|truth)\b",
        r"\b(?:override|overrule|skip|bypass)\b[^.\n]{0,40}"
        r"\b(?:instructions?|prompt|rubric|criteri\w+|questions?|truth)\b",
        rf"(?:\b(?:dear|attention|(?:note|message)\s+(?:to|for)|you\s+are)|^\W*(?:to|for|as))\s+"
        rf"(?:(?:the|a|an|any|our|whoever)\s+)?(?:\w+\s+)?{_JUDGE}s?\b",
        rf"^\W*{_JUDGE}s?\b\s*[:,]",
        r"(?:^\W*|[,;:]\s*|\b(?:please|must|should|shall|to|and|so|now|just|simply|therefore|hence)\s+)"
        rf"{_MARK}"
        rf"\s+(?:it|this|that|these|them|me|us|all|every|the\s+(?:answer|above|following|submission|"
        rf"diagnosis|response|mechanism))\b[^.\n]{{0,50}}\b{_GOOD}\b",
        r"(?:^\W*|[,;:]\s*|\b(?:please|must|should|shall|to|and|now|just|simply)\s+)"
        r"(?:answer|reply|respond|say|output|return|write|choose|select|pick|print|emit)\s+"
        r"(?:with\s+|only\s+|just\s+|exactly\s+|always\s+)*[\"'`“]?"
        r"(?:pass|same|one|yes|no|true|correct|admits|verdict|the\s+(?:json|right\s+option))\b",
        r"\b(?:verdict|grade|result|judg(?:e)?ment|outcome|assessment)\s*[:=]+\s*[\"'`*]*"
        r"(?:pass|correct|same|true|yes|100|a\+|9/9|10/10)",
        r"[\"'`](?:mechanism|causes|honest|verdict|result|near_miss|answer|answers|pass|criteria)"
        r"[\"'`]\s*:",
        r"^\W*(?:system|developer|assistant|user)\s*(?:prompt|message|override|note)?\s*:\s",
        r"</?(?:submission|answer|verdict|instructions?|truth|quote|judge)\b[^>\n]*>",
        r"\[/?(?:INST|SYSTEM|ANSWER|END)[^\]\n]*\]|<\|[^|\n]{1,40}\|>",
        r"\b(?:new|updated|revised|further|additional|your)\s+(?:instructions|rubric)\b",
        r"\b(?:(?:this|my|our)\s+answer|(?:this|my|our|the)\s+(?:submission|diagnosis))\s+(?:is|was|has\s+been"
        r"|counts\s+as|should\s+(?:be|count)|must\s+(?:be|count)|deserves)\b[^.\n]{0,40}"
        r"\b(?:correct|verified|approved|pass|full|confirmed\s+by|pre-?approved|right)",
        r"\b(?:all|every|each)\s+(?:of\s+)?(?:the\s+)?(?:nine\s+|six\s+)?(?:criteri\w+|questions?)\b",
    )
)


def nonce() -> str:
    """A number that no submission can know."""
    return secrets.token_hex(8)


def quoted(name: str, text: str, mark: str) -> str:
    """One field of a submission, each line marked, between delimiters that hold ``mark``."""
    lines = "\n".join(f"| {line}" for line in (text or "(empty)").split("\n"))
    return f"<<<{name} {mark}\n{lines}\n{name} {mark}>>>"


def without_appeals(text: str) -> tuple[str, int]:
    """The text without sentences that speak to a judge, and how many there were.

    Compatibility forms of letters are folded first, and invisible characters are gone.
    """
    parts = [match.group() for match in _SENTENCE.finditer(readable(text))]
    bad = [_appeals(part) for part in parts]
    for first, second in pairwise(range(len(parts))):
        # An order that was broken over two lines is an order.
        if parts[first].endswith("\n") and not (bad[first] or bad[second]):
            bad[first] = bad[second] = _appeals(f"{parts[first].strip()} {parts[second]}")
    kept = [f"{REMOVED} " if gone else part for part, gone in zip(parts, bad, strict=True)]
    return "".join(kept).strip(), sum(bad)


def _appeals(text: str) -> bool:
    return bool(text.strip()) and any(pattern.search(text) for pattern in _APPEALS)


def empty(text: str) -> bool:
    """True where nothing is left but what was taken out."""
    return not re.search(r"\w", text.replace(REMOVED, ""))


def readable(text: str) -> str:
    """Bounded, compatibility-folded, no control or invisible characters, no half surrogates."""
    text = text[:LONGEST].encode("utf-8", "replace").decode("utf-8")
    text = unicodedata.normalize("NFKC", text)
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return visible(text, LONGEST, lines=True)
