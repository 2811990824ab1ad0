"""What a change may not harm: what the same brain solves in another environment.

A brain serves every environment that it is read in. So what was accepted in one is asked once more
on train incidents of another, by the same question as what passed here: does what passed there
still pass?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heldout.interface import Interface
from heldout.run.plan import Arm
from heldout.run.reduce import final
from heldout.settings import Settings
from heldout.split import Case
from heldout.tune.player import Player

MOST = 16
"""Incidents of the other environment that are played at most, spread over its train half."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another environment with its own settings and its train cases."""

    settings: Settings
    interface: Interface
    cases: tuple[Case, ...]

    def player(self, own: Player) -> Player:
        """A job's player in this environment: the same caps, ledger and model."""
        return replace(
            own, settings=self.settings, interface=self.interface,
            set=self.cases[0].incident.set,
        )  # fmt: skip

    def chosen(self) -> tuple[Case, ...]:
        """The cases to play: every n-th by id, so that they are the same each time."""
        ordered = sorted(self.cases, key=lambda case: case.incident.id)
        step = max(1, len(ordered) // MOST)
        return tuple(ordered[::step][:MOST])


async def passed_there(player: Player, cases: Sequence[Case], base: Arm, seed: int) -> list[str]:
    """The incidents that the brain before passes in most of three investigations."""
    result = await player.play("confirm", cases, [base], repeats=3, seed=seed)
    wins: dict[str, int] = {}
    for (incident, _, _), one in final(result.outcomes).items():
        wins[incident] = wins.get(incident, 0) + (one.verdict.result == "pass")
    return sorted(incident for incident, count in wins.items() if count >= 2)
