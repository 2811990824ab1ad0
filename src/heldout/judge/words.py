"""Text as the exact judge reads it: words, whatever their spelling in code, and hedging."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 4000
"""Characters of a mechanism that are read; a diagnosis is a few sentences."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+|[^\W_]+")

_ID = r"\b[ec]-[0-9a-f]{6,}\b"
_CHANGE = r"\bc-[0-9a-f]{6,}\b"
_CHANGES = re.compile(_CHANGE, re.IGNORECASE)
_ALTERNATIVE_IDS = re.compile(
    rf"{_ID}\s*(?:\([^)\n]{{0,60}}\))?\s*(?:,?\s*\bor\b|/|\bversus\b|\bvs\b\.?)"
    rf"\s*(?:[\w'-]+\s+){{0,3}}?{_ID}",
    re.IGNORECASE,
)
_LISTED_CHANGES = re.compile(
    rf"{_CHANGE}\s*(?:,|;|&|\band\b)\s*(?:and\s+)?{_CHANGE}", re.IGNORECASE
)

_SYMPTOM = (
    r"(?:fail|time|timed|return|hang|hung|drop|error|retr|queue|wait|block|reset|refus|reject"
    r"|crash|restart|stall|abort|delay|slow|lost|stuck|kill|evict|of\s+(?:them|these|those)\b)"
)
_KIND = (
    r"(?:change|deploy(?:ment)?|rollout|release|upgrade|migration|rotation|flag|merge|edit"
    r"|misconfiguration)"
)
_HEDGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\beither\s+(?!{_SYMPTOM})[^.\n]{{1,300}}?\bor\b",
        rf"\b(?:could|may|might)\s+be\s+(?!{_SYMPTOM})[^.\n]{{1,200}}?\bor\b",
        rf"\b{_KIND}\s+or\s+(?:[\w'-]+\s+){{0,4}}?{_KIND}\b",
        r"\bor\s+(?:possibly|perhaps|maybe|alternatively|else|potentially|probably|conceivably)\b",
        r"\bor\s+(?:it|this|that|the\s+cause|the\s+root\s+cause)\s+(?:could|may|might|can)\b",
        r"\b(?:could|may|might)\s+(?:also|instead|equally|just\s+as\s+well)\s+(?:be|have)\b",
        r"\balternatively\b",
        r"\banother\s+(?:possibility|possible\s+cause|candidate|hypothesis)\b",
        r"\b(?:possible|potential|candidate|likely|plausible)\s+(?:root\s+)?"
        r"(?:causes|reasons|culprits|explanations|changes|candidates|hypotheses)\b",
        r"\bone\s+(?:or\s+more\s+)?of\s+(?:the\s+following|these|those|several|many)\b",
        r"\b(?:not\s+|un)(?:sure|certain|clear)\s+(?:which|whether\s+it\s+(?:is|was))\b",
        r"\b(?:can\s?not|can't|could\s+not|couldn't|unable\s+to)\s+(?:tell|say|decide)\s+which\b",
        r"\b(?:candidates|suspects|hypotheses)\s*(?::|in\s+order\b|by\s+likelihood\b)",
        r"\b(?:perhaps|maybe|possibly)\b[^.\n]{1,200}?\b(?:perhaps|maybe|possibly)\b",
    )
)


def folded(word: str) -> str:
    """Case-folded, without a plural ``s``."""
    word = word.casefold()
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def words(text: str) -> tuple[str, ...]:
    """The words of a text; ``maxConnections``, ``max_connections``, ``max connections`` agree."""
    text = unicodedata.normalize("NFKC", text)
    return tuple(folded(match.group()) for match in _WORD.finditer(text))


def holds(said: tuple[str, ...], term: str) -> bool:
    """True if ``term`` stands in the words ``said``, beginning and ending at word borders.

    Runs are compared joined, so that ``max_connections`` finds ``maxconnections`` too; ``pool``
    does not find ``spooler``.
    """
    wanted = "".join(words(term))
    if not wanted:
        return False
    for start in range(len(said)):
        run = ""
        for word in said[start:]:
            run += word
            if run == wanted:
                return True
            if not wanted.startswith(run):
                break
    return False


def hedge(text: str) -> str:
    """The words that offer several causes instead of one, empty where there are none.

    "Requests either fail or time out" describes a symptom and is no hedge.
    """
    for pattern in (*_HEDGES, _ALTERNATIVE_IDS, _LISTED_CHANGES):
        match = pattern.search(text)
        if match:
            return " ".join(match.group().split())[:120]
    changes = {match.group().casefold() for match in _CHANGES.finditer(text)}
    return f"{len(changes)} changes named" if len(changes) > 2 else ""
