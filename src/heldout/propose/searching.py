"""What a strategy that searches is given, and what it hands back.

Such a strategy decides itself which brains are played on what; a job lends it the means and judges
the outcome like any other edit. Brains are named by their hashes, incidents by their ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from heldout.propose.strategy import Strategy


class Trials(Protocol):
    """The means of a search. Both calls block; they are made from one thread, not the loop's."""

    def play(self, brain: str, incidents: Sequence[str]) -> Sequence[bool]:
        """Investigate each incident once with a brain; whether it passed, in order."""
        ...

    def improve(self, brain: str) -> str:
        """A child of a brain, written from what failed when it was played last.

        Empty where none was written or the gate let none through.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """``most``: investigations that may be spent, never more; ``enough``: the share of
    ``incidents`` passed by one brain at which to stop."""

    first: str
    incidents: tuple[str, ...]
    seed: int
    most: int
    enough: float


@dataclass(frozen=True, slots=True)
class Found:
    """The best brain of a search, what it passed when all was played, and the way there.

    ``course``: for each brain that was kept, the investigations spent when it was found and the
    incidents that it passed.
    """

    brain: str
    passed: tuple[str, ...]
    played: int
    course: tuple[tuple[int, int], ...]


@runtime_checkable
class Searching(Strategy, Protocol):
    """A strategy that searches instead of writing candidates for a cluster."""

    def least(self, incidents: int) -> int:
        """The fewest investigations that buy one proposal."""
        ...

    def search(self, trials: Trials, terms: SearchTerms) -> Found:
        """Search to the end; the same answers of ``trials`` and the same seed find the same."""
        ...
