"""What a further arm of a score is, and what it may be made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from heldout.brain import Brain
from heldout.gate.report import GateReport
from heldout.interface import Interface
from heldout.run.arm import Arm
from heldout.score.request import ScoreRequest
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger


@dataclass(frozen=True, slots=True)
class Brains:
    """The two brains of a score, and those of further arms by name."""

    before: Brain
    after: Brain
    further: Mapping[str, Brain] = field(default_factory=dict)

    @property
    def new(self) -> tuple[Brain, ...]:
        """What the gate is asked about: every brain but the one before."""
        return self.after, *self.further.values()


@dataclass(frozen=True, slots=True)
class Supplies:
    """What arms are made from, before any model is called.

    ``cases`` are the incidents to be scored and ``train`` gives those of the other half.
    ``worlds`` opens any of them with the plain tools, whatever the agent is offered. ``gate`` says
    what is new in a brain against the one before; ``None`` where no gate is asked.
    """

    settings: Settings
    request: ScoreRequest
    brains: Brains
    cases: Sequence[Case]
    ledger: Ledger
    worlds: Interface
    train: Callable[[], Sequence[Case]]
    gate: Callable[[Brain], GateReport] | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """An arm as it is played. ``remark`` is what a reader must know of this one.

    ``facts``: it carries facts of incidents, which no brain may; it is no candidate for release.
    ``again``: it is played in a plan of its own, with other seeds than the paired arms.
    """

    arm: Arm
    remark: str = ""
    facts: bool = False
    again: bool = False


class FurtherArm(Protocol):
    """One arm beside before and after; one file each in this folder."""

    @property
    def name(self) -> str:
        """Its name in ``--arms`` and in the ledger."""
        ...

    @property
    def what(self) -> str:
        """What it is, in one line for a reader of the table."""
        ...

    def make(self, supplies: Supplies) -> Made:
        """The arm; a :class:`UsageError` where something that it needs is not there."""
        ...


def held_against(supplies: Supplies, brain: Brain) -> tuple[bool, str]:
    """Whether the gate finds facts of incidents in a brain, and how many, in words.

    Such a brain is still played: nothing of it can be released, and its row says what it is.
    """
    if supplies.gate is None:
        return False, "no gate was asked"
    found = supplies.gate(brain).rejects
    if not found:
        return False, "the gate finds nothing against it"
    rules = ", ".join(sorted({finding.rule for finding in found}))
    return True, f"the gate has {len(found)} finding(s) against it ({rules})"
