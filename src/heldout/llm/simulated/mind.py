"""What a simulated model does of its own accord, what a brain moves it to, and its slips.

A behaviour happens when a draw falls below its probability. The draw hangs on the incident first
and on the seed second, so that an incident is mostly easy or mostly hard for a model while repeats
still differ a little; a brain moves the probability, never the draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from heldout.llm.simulated.guidance import Guidance

_LONG = 300
"""A brain of more lines than this begins to lose its reader."""


@lru_cache(maxsize=16384)
def draw(*parts: object) -> float:
    """A number in [0, 1) from the parts; the same in every process."""
    text = "\x1f".join(str(part) for part in parts).encode("utf-8", "replace")
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big") / 2**56


@dataclass(frozen=True, slots=True)
class Temper:
    """A model's character: habits per behaviour, and how well it takes advice.

    ``habit`` is the probability of a behaviour without advice, ``best`` with advice heard often,
    ``heeds`` the chance to notice a piece of advice at all, ``wavers`` the share of draws that
    follow the seed rather than the incident.
    """

    habit: Mapping[str, float]
    best: float
    heeds: float
    wavers: float
    slip: float


_KEENER = {"minimal": -0.05, "low": 0.0, "medium": 0.03, "high": 0.06, "max": 0.08, "xhigh": 0.08}


@dataclass(frozen=True, slots=True)
class Mind:
    """One model at work on one incident with one brain."""

    temper: Temper
    guidance: Guidance
    model: str
    effort: str
    seed: int
    incident: str

    @property
    def attention(self) -> float:
        """How much of a long brain is still heard: 1 for a short one, falling with its size."""
        return float(min(1.0, (_LONG / max(1, self.guidance.lines)) ** 0.8))

    def probability(self, concept: str) -> float:
        """How likely a behaviour is under this brain."""
        keener = _KEENER.get(self.effort, 0.0)
        habit = min(0.95, max(0.0, self.temper.habit.get(concept, 0.0) + keener))
        asked = self.guidance.asked.get(concept, 0)
        forbidden = self.guidance.forbidden.get(concept, 0)
        if not asked and not forbidden:
            return habit * (0.5 + 0.5 * self.attention)
        if asked and not self._notices(concept):
            asked = 0
        if forbidden and not asked:
            return habit * 0.4
        if not asked:
            return habit
        best = min(0.99, self.temper.best + keener / 4)
        heard = 1.0 - 0.15**asked
        if forbidden:
            habit *= 0.7
            heard *= 0.5 * max(0, asked - forbidden) / (asked + forbidden)
        return max(0.0, habit + (best - habit) * heard * self.attention)

    def does(self, concept: str) -> bool:
        """True when the behaviour happens in this investigation."""
        return self._draw("does", concept) < self.probability(concept)

    def follows(self, concept: str) -> bool:
        """True when advice that has no habit behind it is asked for, noticed and followed."""
        return bool(self.guidance.asked.get(concept)) and self.does(concept)

    def slips(self, what: str) -> bool:
        """A lapse that no advice prevents; long and contradictory brains make them likelier."""
        torn = sum(1 for name in self.guidance.asked if self.guidance.forbidden.get(name))
        chance = self.temper.slip + 0.25 * (1.0 - self.attention) + 0.06 * torn
        return draw("slip", what, self.model, self.effort, self.seed, self.incident) < chance

    def pick(self, what: str, count: int) -> int:
        """A whim: one of ``count``, by seed and incident."""
        return int(draw("pick", what, self.model, self.effort, self.seed, self.incident) * count)

    def chance(self, what: str) -> float:
        """A draw for a choice that is no behaviour of its own."""
        return self._draw("chance", what)

    def _notices(self, concept: str) -> bool:
        return self._draw("notices", concept) < self.temper.heeds

    def _draw(self, kind: str, what: str) -> float:
        steady = draw("steady", kind, what, self.model, self.incident)
        mood = draw("mood", kind, what, self.model, self.effort, self.seed, self.incident)
        mixing = draw("mix", kind, what, self.model, self.effort, self.seed, self.incident)
        return mood if mixing < self.temper.wavers else steady
