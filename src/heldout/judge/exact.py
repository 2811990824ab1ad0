"""The exact judge: strict and deterministic on the structured submission.

A submission passes if every criterion holds: it names one accepted entity, one accepted change (or
none where there is none), a mechanism with one term of every group, no alternatives beside it, and
it is no near miss. The reasoning names the truth; whoever shows it to a proposer redacts it first.
"""

from __future__ import annotations

from collections.abc import Collection

from heldout.interface import Submission
from heldout.judge.structure import (
    near_text,
    praise,
    silence,
    solution,
    structure_of,
    structure_texts,
)
from heldout.judge.verdict import Verdict
from heldout.judge.words import LONGEST, hedge, holds, words
from heldout.truth import Truth

NAME = "exact"

HONEST = (
    "cannot be proven", "cannot be proved", "can not be proven", "cannot be determined",
    "cannot determine", "could not be determined", "cannot be established", "not provable",
    "cannot prove", "cannot be confirmed", "inconclusive", "undetermined", "insufficient evidence",
    "insufficient data", "not enough evidence", "no evidence", "unprovable", "can't be proven",
    "can't be determined", "none can be proven", "nothing can be proven", "nothing proves",
)  # fmt: skip
"""What says that the cause cannot be proven, where the truth file gives no terms of its own."""


def judge_exact(
    submission: Submission, truth: Truth, *, shown_ids: Collection[str] | None = None
) -> Verdict:
    """Judge one submission. ``shown_ids`` (what the tools showed) only enriches the reasoning."""
    found = structure_of(submission, truth)
    mechanism = submission.mechanism[:LONGEST]
    missing = _missing(mechanism, truth)
    hedged = found.listed or hedge(mechanism)
    criteria = {
        **found.criteria(),
        "mechanism": found.answered and not missing,
        "single_cause": not hedged,
    }
    passed = all(criteria.values())
    if not found.answered:
        text = silence(truth)
    elif passed:
        text = praise(submission, truth)
    else:
        parts = [
            *structure_texts(found, submission, truth, shown_ids),
            _mechanism_text(missing),
            f"It offers several causes instead of one ('{hedged}')." if hedged else "",
            near_text(found, truth),
            solution(truth),
        ]
        text = " ".join(part for part in parts if part)
    return Verdict("pass" if passed else "fail", text, NAME, criteria)


def _missing(mechanism: str, truth: Truth) -> tuple[tuple[str, ...], ...]:
    groups = truth.mechanism_terms
    if not groups and not truth.accepted_changes:
        groups = (HONEST,)
    said = words(mechanism)
    return tuple(group for group in groups if not any(holds(said, term) for term in group))


def _mechanism_text(missing: tuple[tuple[str, ...], ...]) -> str:
    if not missing:
        return ""
    groups = "; ".join(" or ".join(f"'{term}'" for term in group[:6]) for group in missing)
    return f"The mechanism does not say: {groups}."
