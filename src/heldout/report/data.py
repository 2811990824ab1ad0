"""Everything a report shows, gathered from the ledger and from nothing else.

Rendering never reads the ledger, so both renderers can be fed by hand. Held-out incidents appear
with their ids and outcomes only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.report.over_time import OverTime
from heldout.score import Score
from heldout.store.queries import DecisionRow
from heldout.transfer import Table


@dataclass(frozen=True, slots=True)
class OpView:
    """One change of one file, as lines to show."""

    file: str
    action: str
    anchor: str
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EffectView:
    """What an edit did on one batch of train incidents."""

    pairs: int
    fixed: int
    broken: int
    incidents: int
    fixed_incidents: int
    broken_incidents: int


@dataclass(frozen=True, slots=True)
class EditView:
    """One edit on its way through the job.

    ``fate`` is accepted, rejected, set aside or open; ``by`` says who rejected it: form, gate,
    screen, behaviour. ``withheld`` edits touched held-out material; their text is not shown.
    """

    id: str
    round: int
    fate: str
    by: str
    reason: str
    cluster: str
    rationale: str
    expected: str
    feared: str
    ops: tuple[OpView, ...]
    looks: int
    target: EffectView | None = None
    regression: EffectView | None = None
    findings: tuple[str, ...] = ()
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class HalfRow:
    """One line of the table before/after: one kind of incident of one half."""

    half: str
    kind: str
    incidents: int
    before: int
    after: int
    fixed: int
    broken: int
    p: float | None
    note: str


@dataclass(frozen=True, slots=True)
class TrainPoint:
    """How many train incidents were solved after a measurement."""

    step: int
    solved: int
    total: int


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage cost. ``usd`` is ``None`` where a price is unknown."""

    name: str
    investigations: int
    tokens: int
    usd: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """The job that made the brain: its course, its edits and what it cost."""

    job: str
    model: str
    status: str
    reason: str
    rounds: int
    course: tuple[TrainPoint, ...]
    accepted: tuple[EditView, ...]
    rejected: tuple[EditView, ...]
    rejected_by: Mapping[str, int]
    stages: tuple[Stage, ...]
    proposer: str = ""
    strategy: str = ""
    """How edits were proposed."""
    started: int = 0
    ended: int = 0

    @property
    def wall_seconds(self) -> float:
        """From the job's first row to its last."""
        return max(0.0, (self.ended - self.started) / 1e6)


@dataclass(frozen=True, slots=True)
class ProposalView:
    """The whole change and who decided about it."""

    id: str
    diff: str
    diff_hash: str
    edits: int
    decision: DecisionRow | None = None
    lines_before: int | None = None
    lines_after: int | None = None


@dataclass(frozen=True, slots=True)
class ArmLine:
    """One arm as people read it; ``main`` is the change. A dash is what was not measured."""

    name: str
    what: str
    solved: str
    unseen: str
    outside: str
    fixed: str
    broken: str
    p: str
    adjusted: str
    ahead: str
    harmed: str
    bound: str
    harm: str
    invalid: str
    tokens: str
    usd: str
    main: bool = False
    facts: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """Every arm that was played, those that were not, and what must be said under the table."""

    lines: tuple[ArmLine, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    margin: str = ""


@dataclass(frozen=True, slots=True)
class ReportData:
    """One report. ``score`` is ``None`` while the held-out half was not opened."""

    title: str
    project: str
    model: str
    set: str
    evidence: str
    verdict: str
    word: str
    made_at: int
    halves: tuple[HalfRow, ...]
    score: Score | None = None
    arms: EvidenceTable | None = None
    """Every arm of the score beside each other, for a sceptic."""
    others: tuple[Score, ...] = ()
    """Scores of the same two brains with other models: what carries over."""
    tuning: Tuning | None = None
    proposal: ProposalView | None = None
    review: str = ""
    judges: tuple[str, ...] = ()
    """What must be said of who judged; empty for the exact judge without further opinions."""
    hashes: tuple[tuple[str, str], ...] = ()
    unfinished: tuple[str, ...] = ()
    """Scores that were begun and not ended."""
    wishes: tuple[str, ...] = ()
    """What the graph or the tools should gain, from usage on train."""
    fidelity: tuple[str, ...] = ()
    """How the model's incidents ended in production; empty where nobody compared."""
    transfer: Table | None = None
    """The brains that were tuned here with each model, where a table of the score's brain is."""
    over_time: OverTime | None = None
    """The model's other looks, the brain's lines and their origin, and what it all cost."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tone(self) -> str:
        """Which of three tones the verdict is shown in: good, bad, open."""
        if self.word in ("gain", "mechanism shown"):
            return "good"
        return "bad" if self.word == "harm" else "open"
