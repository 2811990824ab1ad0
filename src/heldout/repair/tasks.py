"""Tasks: every template with several seeds, split into halves by template and never by seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Literal

from heldout.errors import UsageError
from heldout.repair.defect import Template
from heldout.repair.families import families
from heldout.repair.instance import Instance
from heldout.split import HeldoutAccess

Half = Literal["train", "test"]

SEEDS = (0, 1, 2, 3, 4)
"""Variants of each template; 0 is the pinned one in the code base's own words."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task by an id that says nothing; ``half`` and ``template`` are never shown to an agent."""

    id: str
    template: Template
    family: str
    seed: int
    half: Half

    def instance(self) -> Instance:
        """The task as something that runs.

        It holds the truth, so one of the held-out half is made only by a process whose role may
        open that: any other is a :class:`~heldout.errors.SplitViolation`.
        """
        if self.half == "test":
            HeldoutAccess()
        return Instance(self.template, self.seed)


@cache
def tasks() -> dict[str, Task]:
    """Every task by its id, in a stable order.

    The second template of each family, and the third of every other one, stand in the held-out
    half: a brain that learned one shape of a defect is asked about another.
    """
    found: dict[str, Task] = {}
    for position, (name, family) in enumerate(sorted(families().items())):
        for number, template in enumerate(family.templates()):
            held = number % 3 == 1 or (number % 3 == 2 and position % 2 == 0)
            for seed in SEEDS:
                text = hashlib.sha256(f"task\0{template.name}\0{seed}".encode()).hexdigest()
                one = Task(f"rep-{text[:6]}", template, name, seed, "test" if held else "train")
                if one.id in found:
                    raise UsageError("two tasks have one id", where=one.id, mend="Lengthen the ids")
                found[one.id] = one
    return dict(sorted(found.items()))


def task(name: str) -> Task:
    """A task by its id."""
    found = tasks().get(name)
    if found is None:
        raise UsageError(
            f"there is no task '{name[:40]}'", mend="heldout.repair.tasks.tasks() lists them"
        )
    return found
