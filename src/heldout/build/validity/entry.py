"""What is kept of one examined incident to look at its set as a whole. Small, and picklable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heldout.build.similarity import Portrait, portrait
from heldout.build.validity.points import findings
from heldout.build.validity.probes import hits
from heldout.build.validity.subject import Subject
from heldout.build.validity.surface import Lineup, lineup
from heldout.floors import FLOORS, Desk, investigate, points_at_cause
from heldout.graph.session import WorldSession
from heldout.truth import Spec, Truth


@dataclass(frozen=True, slots=True)
class Entry:
    """One examined incident.

    ``hits`` and ``floors`` say which shortcuts and floors are right on it, ``found`` what the
    points of the gate found.
    """

    spec: Spec
    side: int
    portrait: Portrait
    hits: Mapping[str, bool] = field(default_factory=dict)
    floors: Mapping[str, bool] = field(default_factory=dict)
    lineup: Lineup | None = None
    found: tuple[str, ...] = ()

    @property
    def is_trap(self) -> bool:
        """True for the incidents of the primary endpoint."""
        return self.spec.kind == "trap"


def examine(subject: Subject, side: int, *, floors: bool = True) -> Entry:
    """Run every point on one incident, and take down what its set needs to know of it."""
    spec = subject.spec
    return Entry(
        spec=spec,
        side=side,
        portrait=portrait(spec, subject.truth, subject.made.alert, _identifiers(subject)),
        hits=hits(subject),
        floors=play(subject) if floors and subject.refused is None else {},
        lineup=lineup(subject) if spec.kind == "trap" else None,
        found=tuple(findings(subject)),
    )


def _identifiers(subject: Subject) -> list[str]:
    """Ids of the cause's entities and change, and the names of the entities."""
    truth, name = subject.truth, subject.view.name
    entities = [one for one in (truth.culprit_entity, *truth.accepted_entities) if one in name]
    named = [f"{subject.view.kind[one]} {name[one]}" for one in entities]
    return [one for one in (*entities, *named, truth.culprit_change) if one]


def play(subject: Subject) -> dict[str, bool]:
    """Which floors are right, each through a session of its own."""
    return {name: _right(subject, rule, subject.truth) for name, rule in FLOORS.items()}


def _right(subject: Subject, rule: Callable[[Desk], dict[str, object]], truth: Truth) -> bool:
    session = WorldSession(subject.world)
    try:
        return points_at_cause(investigate(rule, subject.made.alert, session), truth)
    finally:
        session.close()
