"""What every probe works with: something that plays plans, train cases, options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.behaviour.options import ProbeOptions
from heldout.errors import SplitViolation
from heldout.interface import Interface
from heldout.run.judging import Judge
from heldout.run.plan import Arm, Limits, Purpose, RunResult
from heldout.settings import Settings
from heldout.split import Case


@dataclass(frozen=True, slots=True)
class Setup:
    """An environment, a judge and limits in place of the job's own; ``name`` pins them."""

    name: str
    interface: Interface
    judge: Judge
    limits: Limits


class Plays(Protocol):
    """Plays plans for somebody who holds the ledger, the model and the caps."""

    async def play(
        self,
        purpose: Purpose,
        cases: Sequence[Case],
        arms: Sequence[Arm],
        *,
        repeats: int,
        seed: int,
        setup: Setup | None = None,
    ) -> RunResult:
        """Play a plan to its end; the same plan again costs nothing."""
        ...


def _silent(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What stays the same over the probes of one proposal.

    ``cases`` must be train-side: what a probe says of an incident goes to people and proposers,
    so none may look at the held-out half (:class:`~heldout.errors.SplitViolation`).
    """

    plays: Plays
    settings: Settings
    model: str
    interface: Interface
    cases: tuple[Case, ...]
    options: ProbeOptions
    seed: Callable[..., int]
    say: Callable[[str], None] = _silent

    def __post_init__(self) -> None:
        if any(case.side != "train" for case in self.cases):
            raise SplitViolation(
                "a probe was handed an incident of the held-out half",
                mend="Probe on train; what a brain is worth elsewhere is the score's to say",
            )

    def case(self, incident: str) -> Case:
        """One of the cases."""
        return next(case for case in self.cases if case.incident.id == incident)
