"""A reconstructed suite fault by fault: which parts held, and which tool told the cause.

Its faults are public by name, so that they may be named here; other incidents never are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heldout.run.plan import Outcome
from heldout.split import Case
from heldout.truth import Truth, read_truth

PARTS = ("entity", "change", "mechanism")
"""What the strict verdict asks for, in order: where, which change, and by what mechanism."""
DIMENSIONS = ("L", "C", "S")
"""Of the nine questions: localisation, characterisation, scope; three of each."""


@dataclass(frozen=True, slots=True)
class FaultArm:
    """One arm on one fault: of its ``valid`` runs how many passed and held each part.

    ``questions`` are mean shares of yes, from 0 to 1, by dimension, and ``seven`` how many runs
    have seven of nine; both only where a model judged. ``told`` counts the tools whose answer
    showed the cause first, "none" where no answer did.
    """

    valid: int
    passed: int
    parts: Mapping[str, int]
    questions: Mapping[str, float] = field(default_factory=dict)
    seven: int | None = None
    told: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault of a suite, or a healthy state of it (``is_fault`` false), by arm."""

    suite: str
    fault: str
    is_fault: bool
    arms: Mapping[str, FaultArm]


def fault_rows(
    cases: Iterable[Case], outcomes: Mapping[str, Sequence[Outcome]]
) -> tuple[FaultRow, ...]:
    """Every reconstructed case by its fault's name; none where the set has none."""
    found = []
    for case in sorted(cases, key=lambda one: one.group):
        if case.origin != "reconstructed":
            continue
        suite, _, fault = case.group.partition("/")
        truth = read_truth(case.truth_file, digest=case.truth_digest)
        arms = {
            arm: _arm([one for one in played if one.incident == case.incident.id], truth)
            for arm, played in outcomes.items()
        }
        found.append(FaultRow(suite, fault, case.is_trap, arms))
    return tuple(found)


def _arm(played: Sequence[Outcome], truth: Truth) -> FaultArm:
    valid = [one for one in played if one.verdict.result != "invalid"]
    held = {part: sum(bool(one.verdict.criteria.get(part)) for one in valid) for part in PARTS}
    asked = [lcs for one in valid if isinstance(lcs := one.verdict.criteria.get("lcs"), Mapping)]
    return FaultArm(
        valid=len(valid),
        passed=sum(one.verdict.result == "pass" for one in valid),
        parts=held,
        questions={one: _share(asked, one) for one in DIMENSIONS} if asked else {},
        seven=sum(bool(one["pass"]) for one in asked) if asked else None,
        told=Counter(_told(one, truth) for one in valid),
    )


def _share(asked: Sequence[Mapping[str, object]], dimension: str) -> float:
    yes = []
    for one in asked:
        answers = one["answers"]
        if isinstance(answers, Mapping):
            yes += [bool(held) for name, held in answers.items() if name.startswith(dimension)]
    return sum(yes) / len(yes) if yes else 0.0


def _told(one: Outcome, truth: Truth) -> str:
    """The tool whose answer first showed the change to blame, or the entity where there is none."""
    wanted = set(truth.accepted_changes or truth.accepted_entities)
    steps = one.trace.steps if one.trace is not None else ()
    return next((step.tool for step in steps if wanted & set(step.shown_ids)), "none")
