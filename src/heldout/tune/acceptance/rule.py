"""The seam of an acceptance rule: what to play next for a candidate, and what that says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from heldout.tune.acceptance.counts import Decision, Pairs, merge


@dataclass(frozen=True, slots=True)
class Purchase:
    """What the next look plays with both brains: these incidents, so many repeats of each."""

    incidents: tuple[str, ...]
    repeats: int

    @property
    def cost(self) -> int:
        """Investigations, both brains counted."""
        return 2 * len(self.incidents) * self.repeats


@dataclass(slots=True)
class Batch:
    """The incidents that a candidate may be played on, best first, and what was played so far."""

    incidents: tuple[str, ...]
    purchases: list[Purchase] = field(default_factory=list, init=False)
    looks: list[Pairs] = field(default_factory=list, init=False)
    seen: Pairs = field(default_factory=dict, init=False)
    """All valid pairs by incident."""
    spent: int = field(default=0, init=False)
    """Investigations so far, both brains counted."""

    def add(self, purchase: Purchase, pairs: Pairs) -> None:
        """Note what a look played and the valid pairs that it gave."""
        self.purchases.append(purchase)
        self.looks.append(pairs)
        self.seen = merge((self.seen, pairs))
        self.spent += purchase.cost

    def bought(self) -> dict[str, int]:
        """Repeats played of every incident, valid or not."""
        counts = dict.fromkeys(self.incidents, 0)
        for one in self.purchases:
            for incident in one.incidents:
                counts[incident] += one.repeats
        return counts


class Question(Protocol):
    """One question about a candidate, asked on one batch. All it knows is in the batch."""

    def buy(self, batch: Batch) -> Purchase | None:
        """What the next look should play; ``None`` when no more may be bought."""
        ...

    def judge(self, batch: Batch) -> Decision:
        """The ruling on all pairs so far; "indecisive" only where more may be bought."""
        ...


@dataclass(frozen=True, slots=True)
class Rule:
    """How an edit is accepted: ``target`` on the failures it is for, ``guard`` on what passed."""

    name: str
    target: Question
    guard: Question
