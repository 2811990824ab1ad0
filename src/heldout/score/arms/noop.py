"""``noop``: the brain before, once more, with other seeds. What it fixes and breaks is noise."""

from __future__ import annotations

import hashlib

from heldout.run.arm import Arm
from heldout.score.arms.arm import Made, Supplies


class Noop:
    """The same brain in a second plan, played at the same time."""

    name = "noop"
    what = "the brain before, once more with other seeds: run-to-run noise"

    def make(self, supplies: Supplies) -> Made:
        """Always possible."""
        return Made(Arm(self.name, supplies.brains.before), again=True)


def noop_seed(seed: int) -> int:
    """A seed for the no-op arm, fixed by the plan's own and never equal to it."""
    digest = hashlib.sha256(f"noop:{seed}".encode()).digest()
    other = int.from_bytes(digest[:4], "big") >> 1
    return other if other != seed else other + 1
