"""What an answer gives away: whether it names an entity, a change or a mechanism of the truth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from heldout.graph import read_table
from heldout.interface import Submission
from heldout.judge import Verdict, judge_exact
from heldout.judge.words import holds, words
from heldout.split import Case
from heldout.truth import NONE, Truth

NAME = "alert-only"

FACETS = ("entity", "change", "mechanism")
CERTAIN = "certain"
"""A criterion: an accepted id was named that the alert does not hold. Nobody guesses one."""


class Naming:
    """Judges alert-only answers: a *pass* says that the root cause was named, by any facet.

    The exact judge decides on ids, mechanism and hedging. Since a brain would rather tell a name
    than an id, the name of an accepted entity and the name of the altered field count as well,
    unless the alert itself says them. A facet whose right answer is "none" cannot be named.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = {case.incident.id: case for case in cases}

    def __call__(self, submission: Submission, truth: Truth) -> Verdict:
        """The verdict on one answer; its reasoning says facets only, never what is right."""
        case = self._cases[truth.incident]
        alert = words(case.incident.alert)
        exact = judge_exact(submission, truth).criteria
        said = words(" ".join(_prose(submission)))
        named = dict.fromkeys((*FACETS, CERTAIN), False)
        names = _names(case.incident.world, truth.accepted_entities)
        if truth.accepted_entities and NONE not in truth.accepted_entities:
            by_id = bool(submission.root_cause_entity) and exact["entity"]
            given = any(holds(alert, name) for name in names)
            named["entity"] = by_id or (not given and any(holds(said, name) for name in names))
            named[CERTAIN] |= by_id and str(submission.root_cause_entity) not in case.incident.alert
        if truth.accepted_changes:
            by_id = bool(submission.root_cause_change) and exact["change"]
            field = _field(truth)
            named["change"] = by_id or bool(
                field and holds(said, field) and not holds(alert, field)
            )
            named[CERTAIN] |= by_id
        if truth.mechanism_terms:
            named["mechanism"] = exact["mechanism"] and exact["single_cause"]
        facets = [facet for facet in FACETS if named[facet]]
        text = f"names {', '.join(facets)}" if facets else "names nothing of the cause"
        return Verdict("pass" if facets else "fail", text, NAME, named)


@lru_cache(maxsize=512)
def _names(world: Path, accepted: tuple[str, ...]) -> tuple[str, ...]:
    """The names of accepted entities; those of three letters and fewer stand in any text."""
    rows = read_table(world, "entity") if accepted else []
    found = (str(row["name"]) for row in rows if row["id"] in accepted)
    return tuple(dict.fromkeys(name for name in found if len(name) > 3))


def _prose(submission: Submission) -> tuple[str, ...]:
    return (
        submission.root_cause_entity or "",
        submission.root_cause_change or "",
        submission.mechanism,
        submission.trigger,
        submission.recommended_fix,
    )


def _field(truth: Truth) -> str:
    """The altered field's own name, where it is more than one word: one word may be chance."""
    leaf = truth.culprit_field.rpartition(".")[2]
    return leaf if len(words(leaf)) > 1 else ""
