"""What a brain asks of its reader: how often each behaviour is asked for and forbidden.

Parsed paragraph by paragraph and cached by text, so that a brain costs its parsing once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from heldout.llm.simulated.concepts import CONCEPTS, days_back
from heldout.llm.simulated.language import (
    VAGUE_DAYS,
    Sentence,
    paragraphs,
    read_sentence,
    sentences,
)
from heldout.llm.simulated.view import View

_NEIGHBOURS = 2
"""A request may be spread over so many sentences of one paragraph."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """A brain as its reader takes it in."""

    asked: Mapping[str, int] = field(default_factory=dict)
    forbidden: Mapping[str, int] = field(default_factory=dict)
    days: float = VAGUE_DAYS
    lines: int = 0

    def asks(self, concept: str) -> bool:
        """True when the brain asks for it and never forbids it."""
        return self.asked.get(concept, 0) > 0 and not self.forbidden.get(concept, 0)


def _signs(sentence: Sentence) -> dict[str, int]:
    view = View(sentence)
    return {name: sign for name, read in CONCEPTS.items() if (sign := read(view))}


@lru_cache(maxsize=4096)
def _paragraph(text: str) -> tuple[tuple[tuple[str, int], ...], float | None]:
    """Signs of one paragraph, and the days it gives for the window."""
    signs: dict[str, int] = {}
    days: float | None = None
    parts = sentences(text)
    units = list(parts)
    units += [
        read_sentence(f"{left.text.rstrip('.!')}; {right.text}") for left, right in pairwise(parts)
    ]
    for number, sentence in enumerate(units):
        joined = number >= len(parts)
        for name, sign in _signs(sentence).items():
            if joined and name in signs:
                continue
            signs[name] = sign if name not in signs or signs[name] == sign else -1
            if name == "window" and sign > 0:
                given = days_back(sentence)
                days = max(days or 0.0, given) if given is not None else days
    return tuple(sorted(signs.items())), days


@lru_cache(maxsize=256)
def read_guidance(text: str) -> Guidance:
    """The guidance of a brain's text."""
    asked: dict[str, int] = {}
    forbidden: dict[str, int] = {}
    days: list[float] = []
    vague = False
    lines = sum(1 for line in text.splitlines() if line.strip())
    for paragraph in paragraphs(text):
        signs, given = _paragraph(paragraph)
        for name, sign in signs:
            book = asked if sign > 0 else forbidden
            book[name] = book.get(name, 0) + 1
            vague = vague or (name == "window" and sign > 0 and given is None)
        if given is not None:
            days.append(given)
    reach = max([*days, VAGUE_DAYS] if vague or not days else days)
    return Guidance(asked, forbidden, reach, lines)
