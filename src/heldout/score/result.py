"""What a score found, as it is kept in the ledger and read by the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from heldout.compare import Comparison, Side
from heldout.errors import StoreError
from heldout.floors import Floor
from heldout.score.clearance import Clearance
from heldout.score.faults import FaultRow
from heldout.score.looks import Looks
from heldout.score.ranking import Ranked
from heldout.stats import DetectableGain, Harm

Word = Literal["gain", "mechanism shown", "no gain shown", "harm", "indecisive"]
ModelClass = Literal["mechanism test", "real model"]


@dataclass(frozen=True, slots=True)
class EvidenceClass:
    """What a result can be evidence of: the kind of model, and where the incidents come from."""

    model: str
    model_class: ModelClass
    own_generator: int
    grafted: int
    outside: int
    reconstructed: int = 0

    def sentence(self) -> str:
        """The first line of every report."""
        sources = [
            f"{count} {name}"
            for count, name in (
                (self.own_generator, "made by our own generator"),
                (self.grafted, "grafted on an imported topology"),
                (self.outside, "from outside"),
                (self.reconstructed, "reconstructed from public descriptions"),
            )
            if count
        ]
        incidents = ", ".join(sources) or "none"
        if self.model_class == "mechanism test":
            lead = f"Mechanism test: {self.model} is a simulated model, a program"
            close = "It shows that the machinery works, not what a real model gains"
        else:
            lead = f"Real model: {self.model}"
            close = (
                "Outside incidents speak for generality"
                if self.outside
                else "Without outside incidents it does not speak for generality"
            )
        return f"{lead}; incidents: {incidents}. {close}."


@dataclass(frozen=True, slots=True)
class Controls:
    """Whether controls are shown unharmed, against the margin stated beforehand."""

    verdict: Harm
    upper: float
    margin: float
    fixed: int
    broken: int
    paired: int

    def sentence(self) -> str:
        """One plain sentence."""
        bound = f"at most {100 * self.upper:.0f} % of such incidents break (one-sided 95 % bound)"
        count = f"{self.broken} of {self.paired} control incidents broken, {self.fixed} fixed"
        if self.verdict == "harm":
            return f"Controls harmed: {count}."
        if self.verdict == "within margin":
            margin = f"{100 * self.margin:.0f} %"
            return f"Controls not harmed: {count}; {bound}, within the margin of {margin}."
        return (
            f"Harm to controls not shown either way: {count}; {bound}, "
            f"and the margin is {100 * self.margin:.0f} %."
        )


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Traps that share a fault, family, domain or trap, or were seen in train. Exploratory."""

    kind: Literal["fault", "family", "domain", "trap", "fault seen", "family seen", "trap seen"]
    name: str
    seen_in_train: bool
    incidents: int
    paired: int
    before: int
    after: int
    fixed: int
    broken: int


@dataclass(frozen=True, slots=True)
class IncidentResult:
    """One held-out incident: its id, whether it is a trap, passes and valid runs by arm."""

    incident: str
    trap: bool
    fresh: bool
    cell: str
    passes: Mapping[str, int]
    valid: Mapping[str, int]
    material: str = ""
    """Its class as evidence: own generator, grafted or outside; empty in old scores."""


@dataclass(frozen=True, slots=True)
class Rivalry:
    """The brain after against a rival: traps that only it solves, that only the rival solves."""

    ahead: int
    behind: int
    p: float


@dataclass(frozen=True, slots=True)
class ArmRow:
    """One arm in the table for a sceptic; traps unless said otherwise.

    ``unseen`` is (solved, incidents) of those of a family or trap that train lacks. What compares
    with before is ``None`` in its own row, ``rivalry`` also in that of the change. Runs, tokens and
    USD are over controls too, the latter two of valid runs; ``usd`` is ``None`` where unknown.
    """

    arm: str
    solved: int
    incidents: int
    unseen: tuple[int, int] | None
    valid: int
    planned: int
    invalid: int
    absent: int
    tokens: int
    usd: float | None
    fixed: int | None = None
    broken: int | None = None
    p: float | None = None
    p_adjusted: float | None = None
    harm: Controls | None = None
    rivalry: Rivalry | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """One finished score. ``traps`` is the primary comparison, everything else exploratory."""

    score: str
    job: str
    model: str
    set: str
    before_hash: str
    after_hash: str
    runs: tuple[str, ...]
    evidence: EvidenceClass
    endpoint: Mapping[str, Any]
    endpoint_hash: str
    looks: Looks
    detectable: DetectableGain
    outcome: Word
    why: str
    traps: Comparison
    p_adjusted: float
    controls: Comparison | None
    harm: Controls
    fresh: Comparison | None
    arms: Mapping[str, Comparison]
    """``before`` against each further arm, on traps."""
    sides: Mapping[str, Side]
    """Every arm over every incident, controls included: coverage, invalids, cost."""
    breakdown: tuple[Breakdown, ...]
    floors: tuple[Floor, ...]
    incidents: tuple[IncidentResult, ...]
    repeats: int
    seconds: float
    cpu_seconds: float
    usd: float | None
    clearance: Clearance | None = None
    """What the gate said of the brain after, ``None`` where none was asked."""
    table: tuple[ArmRow, ...] = ()
    """Every arm side by side: before first, the change last."""
    ranked: Mapping[str, Ranked] = field(default_factory=dict)
    """Exploratory: how often each arm has the entity at fault among the first that it names."""
    faults: tuple[FaultRow, ...] = ()
    """Of a reconstructed suite alone: fault by fault."""

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        data = _adapter().dump_python(self, mode="json")
        return dict(data)

    def verdict(self) -> str:
        """The result in one plain sentence, with the word that it ends with."""
        pairs = self.traps
        return (
            f"{self.outcome.capitalize()}: {pairs.before.solved_count} of "
            f"{pairs.before.incidents} held-out trap incidents solved before, "
            f"{pairs.after.solved_count} after ({pairs.count('fixed')} fixed, "
            f"{pairs.count('broken')} broken, exact McNemar {_p(pairs.p)}"
            f"{f', {_p(self.p_adjusted)} adjusted for look {self.looks.number}' * self._adjusts()}"
            f"). {self.why}"
        )

    def _adjusts(self) -> bool:
        return self.looks.number > 1


def _p(value: float) -> str:
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"


@cache
def _adapter() -> TypeAdapter[Score]:
    return TypeAdapter(Score)


def read_score(plain: Mapping[str, Any] | str, *, where: str = "ledger") -> Score:
    """A score from the ledger's ``result_json``; one that does not fit is a StoreError."""
    try:
        data = json.loads(plain) if isinstance(plain, str) else plain
        return _adapter().validate_python(data)
    except (ValidationError, ValueError) as error:
        raise StoreError(
            f"a stored score cannot be read ({type(error).__name__})",
            where=where,
            mend="It was written by another version; score again",
        ) from error
