"""What every step of a job works with, and what the job knows so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from heldout.brain import Brain
from heldout.gate.report import GateReport
from heldout.gate.reviewer import Reviewer
from heldout.propose import Recalled, Rejected, target_file
from heldout.run.plan import Outcome
from heldout.signatures import Client
from heldout.split import Case
from heldout.tune.acceptance import Rule
from heldout.tune.elsewhere import Elsewhere
from heldout.tune.log import JobLog
from heldout.tune.options import TuneOptions
from heldout.tune.player import Player
from heldout.tune.results import Accepted, OnEvent, TuneEvent


class Gate(Protocol):
    """The part of :class:`heldout.gate.GateProcess` that a job needs; it may block."""

    def check(
        self, before: Brain, after: Brain, *, rationale: str = "", job_texts: Sequence[str] = ()
    ) -> GateReport:
        """What is new in ``after`` and must not be there."""
        ...


class HeldoutLeak(Exception):
    """An edit held material of the held-out half alone: the pipeline leaks, the job ends."""


@dataclass(frozen=True, slots=True)
class Failing:
    """One failing investigation of an incident that is not solved, and the run it stands in."""

    run: str
    outcome: Outcome


@dataclass(slots=True)
class State:
    """What the job knows: rebuilt step by step from stored rows when a job is resumed."""

    brain: Brain
    round: int = 0
    accepted: list[Accepted] = field(default_factory=list)
    memory: list[Rejected] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    tried: dict[str, int] = field(default_factory=dict)
    solved: dict[str, bool | None] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    """The incidents that the brain solved with which the job began."""
    failing: dict[str, Failing] = field(default_factory=dict)
    reasonings: dict[str, None] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    """Edits that were refused with the present brain: the same text need not be tried again."""
    recalled: Recalled = field(default_factory=Recalled)
    """What earlier jobs for this model refused, as it stood when the job began."""

    def refuse(self, kind: str, memory: Rejected) -> None:
        """Remember a refused draft and count it by ``kind``."""
        self.stale.add(memory.edit)
        self.memory.append(memory)
        self.refused[kind] = self.refused.get(kind, 0) + 1

    def lines_left(self, options: TuneOptions) -> int:
        """How many lines the job may still add; what an edit takes away counts against it."""
        return options.max_added_lines - sum(one.edit.growth() for one in self.accepted)

    def known(self, edit: str, after: str = "") -> str:
        """Why an edit that leads to the brain ``after`` need not be tried; empty if it may be."""
        if edit in self.stale:
            return "it was refused before, with the same brain"
        if edit in self.recalled.edits:
            return "a reviewer turned it down in an earlier job"
        if after in self.recalled.brains:
            return "an earlier job refused it, with the same brain and incidents"
        return ""


@dataclass(frozen=True, slots=True)
class Context:
    """What stays the same through a job."""

    options: TuneOptions
    model: str
    interface: str
    base: Brain
    cases: tuple[Case, ...]
    log: JobLog
    player: Player
    client: Client
    gate: Gate
    on_event: OnEvent | None = None
    reviewer: Reviewer | None = None
    """Looks at what the gate lets through, where the settings name one."""
    elsewhere: Elsewhere | None = None
    """Another environment in which a change may harm nothing."""

    @property
    def rule(self) -> Rule:
        """How an edit is accepted in this job."""
        return self.options.rule()

    @property
    def target_file(self) -> str:
        """The file that edits of this job belong in."""
        return target_file(self.model, self.options.target)

    def case(self, incident: str) -> Case:
        """One of the job's cases."""
        return next(case for case in self.cases if case.incident.id == incident)

    def tell(self, kind: str, message: str, data: Any = None) -> None:
        """Say something to whoever watches."""
        if self.on_event is not None:
            self.on_event(TuneEvent(kind, message, data))
