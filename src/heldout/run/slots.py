"""The slots of a plan, their seeds, and the order in which they are played."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from heldout.run.plan import Arm, Plan
from heldout.split import Case

MAX_ATTEMPTS = 3
"""A slot is refilled at most twice."""

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
    """Every slot of a plan in the order of play.

    Pairs of (incident, repeat) come in a shuffled order fixed by the plan's seed; the arms of a
    pair stand together, in an order of their own, so that a drift of the provider meets both.
    """
    pairs = [
        (_mark(plan.seed, case.incident.id, repeat), case, repeat)
        for case in plan.cases
        for repeat in range(plan.repeats)
    ]
    ordered: list[Slot] = []
    for mark, case, repeat in sorted(pairs, key=lambda pair: (pair[0], pair[1].incident.id)):
        arms = sorted(plan.arms, key=lambda arm: _mark(plan.seed, mark, arm.name))
        seed = slot_seed(plan.seed, case.incident.id, repeat)
        ordered += [Slot(case, arm, repeat, seed) for arm in arms]
    return ordered


def _mark(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
