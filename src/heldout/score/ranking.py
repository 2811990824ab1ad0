"""Whether the entity at fault is among the first that an answer names: AC@k, exploratory.

The verdict knows one root cause. Peers that let an agent name several report accuracy at k: the
share of answers of which one of the first k entities is right. An answer that names no further
ones counts as before, so AC@1 is the entity's part of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heldout.interface import Submission
from heldout.run import Outcome
from heldout.split import Case
from heldout.truth import Truth, read_truth
from heldout.truth.truths import NONE

FIRST = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class Ranked:
    """``answers`` on incidents with an entity at fault, those that ``listed`` further ones, and
    how many of them have a right one among the first k."""

    answers: int
    listed: int
    right: Mapping[int, int]


def ranked(cases: Sequence[Case], outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Ranked]:
    """AC@k by arm over the traps that have an entity at fault; an altered truth is a SpecError."""
    truths = {
        case.incident.id: read_truth(case.truth_file, digest=case.truth_digest)
        for case in cases
        if case.is_trap
    }
    return {arm: _ranked(truths, played) for arm, played in outcomes.items()}


def _ranked(truths: Mapping[str, Truth], played: Iterable[Outcome]) -> Ranked:
    answers = listed = 0
    right = dict.fromkeys(FIRST, 0)
    for one in played:
        truth = truths.get(one.incident)
        if truth is None or one.trace is None or one.verdict.result == "invalid":
            continue
        accepted = {entity for entity in truth.accepted_entities if entity != NONE}
        if not accepted:
            continue
        named = _named(one.trace.submission)
        answers += 1
        listed += bool(one.trace.submission.alternatives)
        for k in FIRST:
            right[k] += bool(accepted & set(named[:k]))
    return Ranked(answers, listed, right)


def _named(submission: Submission) -> list[str]:
    first = submission.root_cause_entity or NONE
    return list(dict.fromkeys((first, *submission.alternatives)))
