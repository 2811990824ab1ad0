"""Advice that allows no exception: "always blame the oldest change" is wrong where it is not.

A search for words, not a judgement: it says which lines to read twice, and measured harm on
controls stands beside it. Only lines on which change to blame or to clear are looked at; an
absolute rule about *looking* ("always read the diff first") costs a call and blames nobody.
"""

from __future__ import annotations

import re

_ABSOLUTE = re.compile(
    r"\b(?:always|never|every|all|any|must|cannot|can ?not|can't|no|each)\b", re.IGNORECASE
)
_CLEARS = re.compile(
    r"\b(?:ignor|disregard|dismiss|discard|reject|exclud|skip|rul(?:e|ed|ing) out|clear)\w*",
    re.IGNORECASE,
)
_BLAMES = re.compile(
    r"\b(?:blam|cause|culprit|decoy|innocent|fault lies|responsible|suspect|settle on|name)\w*",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:change|deploy|release|rollout|roll-out|commit|merge|edit|what (?:was|is) (?:deployed|"
    r"changed|merged))\w*",
    re.IGNORECASE,
)
_AGE = re.compile(
    r"\b(?:old(?:er|est)?|earli(?:er|est)|recent|new(?:er|est)?|latest|last|fresh|onset|today|"
    r"day of|hours? of|days? (?:old|ago)|near the)\b",
    re.IGNORECASE,
)
_PICKS = re.compile(
    r"\b(?:choose|pick|blame|prefer|take|name)\b\W+(?:\w+\W+){0,2}"
    r"(?:oldest|earliest|older|newest|latest)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:unless|until|without|before|if|when|where|because|after|alone|merely|just|simply|"
    r"sometimes|usually|often|not (?:always|every|all|proof|enough)|do not always|diff)\b",
    re.IGNORECASE,
)


def allows_no_exception(line: str) -> bool:
    """True for a line that blames or clears changes by their age alone, whatever is found."""
    if _HEDGE.search(line) or not (_CHANGE.search(line) or _BLAMES.search(line)):
        return False
    if _PICKS.search(line):
        return True
    clears = _CLEARS.search(line) is not None
    absolute = _ABSOLUTE.search(line) is not None
    if _AGE.search(line) is None:
        return False
    return clears or (absolute and _BLAMES.search(line) is not None)
