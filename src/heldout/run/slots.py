"""The slots of a plan, their seeds, and the order in which they are played."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from heldout.run.plan import Arm, Plan
from heldout.split import Case

MAX_ATTEMPTS = 3
"""A slot is refilled at most twice."""

GOES_ON = frozenset({"cap", "judge"})
"""Reasons of an attempt that was stopped midway: the next one replays its journal and goes on."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class Slot:
    """One investigation to be had: one incident, one arm, one repeat."""

    case: Case
    arm: Arm
    repeat: int
    seed: int

    @property
    def key(self) -> tuple[str, str, int]:
        """(incident, arm, repeat)."""
        return self.case.incident.id, self.arm.name, self.repeat

    def file_name(self, attempt: int) -> str:
        """A file name of its own for one attempt, without an ending."""
        incident, arm, repeat = self.key
        safe = "--".join(_UNSAFE.sub("_", part)[:60] for part in (incident, arm))
        mark = hashlib.sha256(f"{incident}\0{arm}".encode()).hexdigest()[:8]
        return f"{safe}--{repeat}--{attempt}--{mark}"


def slot_seed(seed: int, incident: str, repeat: int) -> int:
    """The model's seed: the same for every arm, so that arms are compared in pairs."""
    digest = hashlib.sha256(f"{seed}\0{incident}\0{repeat}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def slots(plan: Plan) -> list[Slot]:
    """Every slot of a plan in the order of play, fixed by the plan's seed.

    Incidents come shuffled, each with all its repeats together: its world is then loaded once, and
    a run that a cap stops has whole incidents instead of pieces of all. The arms of one repeat
    stand side by side, in an order of their own, so that a drift of the provider meets both.
    """
    ordered: list[Slot] = []
    for case in sorted(plan.cases, key=lambda case: _mark(plan.seed, case.incident.id)):
        for repeat in range(plan.repeats):
            mark = _mark(plan.seed, case.incident.id, repeat)
            seed = slot_seed(plan.seed, case.incident.id, repeat)
            arms = sorted(plan.arms, key=lambda arm: _mark(mark, arm.name))
            ordered += [Slot(case, arm, repeat, seed) for arm in arms]
    return ordered


def _mark(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
