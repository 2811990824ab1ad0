"""Where each slot of a run stands after the attempts there were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from heldout.run.slots import GOES_ON, MAX_ATTEMPTS, Slot

SlotKey = tuple[str, str, int]

GIVEN_UP = frozenset({"truth", "provider_refused"})
"""Reasons that another attempt at once would meet again; a later 'resume' tries them anew."""


class Past(NamedTuple):
    """One attempt that there was."""

    key: SlotKey
    attempt: int
    result: str
    reason: str
    now: bool = False
    """Whether it belongs to this playing of the run, as a worker's does, and not to an earlier."""


@dataclass(slots=True)
class Standing:
    """What is left to play, and what counts of what was played."""

    pending: list[tuple[Slot, int]] = field(default_factory=list)
    """Slots to play in order, each with the number of its next attempt."""
    used: Counter[SlotKey] = field(default_factory=Counter)
    """Attempts that there were, by slot."""
    failed: Counter[SlotKey] = field(default_factory=Counter)
    """Attempts that count against ``MAX_ATTEMPTS``, by slot."""
    paused: set[SlotKey] = field(default_factory=set)
    """Slots whose last attempt was stopped midway."""
    results: Counter[str] = field(default_factory=Counter)
    """Settled slots by result."""
    refused: int = 0
    """Refusals of the provider in this playing of the run."""


def uses_up(result: str, reason: str) -> bool:
    """Whether an attempt used up one of its slot's; one that a cap stopped is only paused."""
    return result == "invalid" and reason != "cap"


def standing(every: Sequence[Slot], past: Iterable[Past]) -> Standing:
    """Count what was played and find what is left of ``every`` slot, in the same order."""
    found = Standing()
    ended: dict[SlotKey, str] = {}
    given_up: set[SlotKey] = set()
    for one in sorted(past, key=lambda one: one.attempt):
        found.used[one.key] = one.attempt + 1
        (found.paused.add if one.reason in GOES_ON else found.paused.discard)(one.key)
        if ended.get(one.key, "invalid") == "invalid":
            ended[one.key] = one.result
        # A judge that was away is asked anew by a later playing.
        if uses_up(one.result, one.reason) and (one.now or one.reason not in GOES_ON):
            found.failed[one.key] += 1
        if one.now and one.reason in GIVEN_UP:
            given_up.add(one.key)
        found.refused += one.now and one.reason == "provider_refused"
    for slot in every:
        result = ended.get(slot.key, "invalid")
        left = found.failed[slot.key] < MAX_ATTEMPTS and slot.key not in given_up
        if result == "invalid" and left:
            found.pending.append((slot, found.used[slot.key]))
        else:
            found.results[result] += 1
    return found
