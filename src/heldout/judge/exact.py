"""The exact judge: strict and deterministic on the structured submission.

A submission passes if every criterion holds: it names one accepted entity, one accepted change (or
none where there is none), a mechanism with one term of every group, no alternatives beside it, and
it is no near miss. The reasoning names the truth; whoever shows it to a proposer redacts it first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import cache
from pathlib import Path

from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.judge.words import LONGEST, hedge, holds, words
from heldout.truth import NearMiss, Truth

NAME = "exact"

HONEST = (
    "cannot be proven", "cannot be proved", "can not be proven", "cannot be determined",
    "cannot determine", "could not be determined", "cannot be established", "not provable",
    "cannot prove", "cannot be confirmed", "inconclusive", "undetermined", "insufficient evidence",
    "insufficient data", "not enough evidence", "no evidence", "unprovable",
)  # fmt: skip
"""What says that the cause cannot be proven, where the truth file gives no terms of its own."""


def judge_exact(
    submission: Submission, truth: Truth, *, shown_ids: Collection[str] | None = None
) -> Verdict:
    """Judge one submission. ``shown_ids`` (what the tools showed) only enriches the reasoning."""
    entity, change = _named(submission.root_cause_entity), _named(submission.root_cause_change)
    mechanism = submission.mechanism[:LONGEST]
    answered = submission.complete or bool(entity or change or mechanism.strip())
    missing = _missing(mechanism, truth)
    hedged = _hedged(submission, mechanism)
    near = _near_miss(entity, change, truth)
    criteria = {
        "answered": answered,
        "entity": answered and _accepted(entity, truth.accepted_entities),
        "change": answered and _accepted(change, truth.accepted_changes),
        "mechanism": answered and not missing,
        "single_cause": not hedged,
        "not_near_miss": near is None,
    }
    passed = all(criteria.values())
    if not answered:
        text = f"No diagnosis was submitted before the investigation ended. {_solution(truth)}"
    elif passed:
        text = _praise(submission, truth)
    else:
        parts = [
            _entity_text(entity, truth, shown_ids),
            _change_text(change, truth, submission, shown_ids),
            _mechanism_text(missing),
            f"It offers several causes instead of one ('{hedged}')." if hedged else "",
            _near_text(near, change, truth),
            _solution(truth),
        ]
        text = " ".join(part for part in parts if part)
    return Verdict("pass" if passed else "fail", text, NAME, criteria)


@cache
def judge_hash() -> str:
    """Hash over the judge's code; part of a run's manifest."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _named(value: str | None) -> str:
    """The id as compared; empty for 'none'."""
    text = (value or "").strip().casefold()
    return "" if text == "none" else text


def _accepted(named: str, accepted: tuple[str, ...]) -> bool:
    return named in {_named(one) for one in accepted} if accepted else not named


def _missing(mechanism: str, truth: Truth) -> tuple[tuple[str, ...], ...]:
    groups = truth.mechanism_terms
    if not groups and not truth.accepted_changes:
        groups = (HONEST,)
    said = words(mechanism)
    return tuple(group for group in groups if not any(holds(said, term) for term in group))


def _hedged(submission: Submission, mechanism: str) -> str:
    for value in (submission.root_cause_entity, submission.root_cause_change):
        if value and len(words(value)) > 0 and any(mark in value.strip() for mark in " ,;/|"):
            return value.strip()[:120]
    return hedge(mechanism)


def _near_miss(entity: str, change: str, truth: Truth) -> NearMiss | None:
    right = _accepted(entity, truth.accepted_entities) and _accepted(change, truth.accepted_changes)
    for miss in truth.near_misses:
        if miss.entity and miss.entity.casefold() != entity:
            continue
        if miss.change and miss.change.casefold() != change:
            continue
        # One that leaves a side open speaks of answers that are not accepted anyway.
        if right and not (miss.entity and miss.change):
            continue
        return miss
    return None


def _seen(one: str, submission: Submission, shown: Collection[str] | None) -> str:
    """What the investigation did with the id that mattered."""
    if one in submission.ruled_out or one.casefold() in {
        r.casefold() for r in submission.ruled_out
    }:
        return "it was looked at and ruled out"
    if one in submission.evidence_ids:
        return "it is cited as evidence but not named as the cause"
    if shown is None:
        return "it is not among the evidence"
    if one in shown:
        return "a tool showed it, and it was passed over"
    return "no tool call ever showed it: the question that finds it was not asked"


def _entity_text(entity: str, truth: Truth, shown: Collection[str] | None) -> str:
    if _accepted(entity, truth.accepted_entities):
        return ""
    if not truth.accepted_entities:
        return f"It blames entity {entity}, but nothing in the evidence proves a faulty entity."
    right = truth.culprit_entity or truth.accepted_entities[0]
    found = ""
    if shown is not None and not set(truth.accepted_entities) & set(shown):
        found = " No tool call ever showed the faulty entity."
    if not entity:
        return f"It names no faulty entity, but there is one: {right}.{found}"
    if entity in {one.casefold() for one in truth.affected}:
        return f"It blames {entity}, which only shows the symptom; the fault is on {right}.{found}"
    return f"It blames entity {entity}; the fault is on {right}.{found}"


def _change_text(
    change: str, truth: Truth, submission: Submission, shown: Collection[str] | None
) -> str:
    if _accepted(change, truth.accepted_changes):
        return ""
    decoy = next((one for one in truth.decoys if one.change.casefold() == change), None)
    innocent = f" That change is innocent: {_sentence(decoy.why_innocent)}" if decoy else ""
    if not truth.accepted_changes:
        return f"It blames change {change}, but no change caused this.{innocent}"
    right = truth.culprit_change or truth.accepted_changes[0]
    did = _seen(right, submission, shown)
    field = f" (it altered {truth.culprit_field})" if truth.culprit_field else ""
    if not change:
        return f"It says that no change is to blame, but {right} is{field}; {did}."
    return f"It blames change {change}, not {right}{field}; of that one, {did}.{innocent}"


def _mechanism_text(missing: tuple[tuple[str, ...], ...]) -> str:
    if not missing:
        return ""
    groups = "; ".join(" or ".join(f"'{term}'" for term in group[:6]) for group in missing)
    return f"The mechanism does not say: {groups}."


def _near_text(near: NearMiss | None, change: str, truth: Truth) -> str:
    if near is None or any(
        one.change.casefold() == change and one.why_innocent == near.why_wrong
        for one in truth.decoys
    ):
        return ""
    return f"It is a known wrong answer: {_sentence(near.why_wrong)}"


def _solution(truth: Truth) -> str:
    happened = truth.mechanism.strip()
    return f"What happened: {_sentence(happened)}" if happened else ""


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _praise(submission: Submission, truth: Truth) -> str:
    if not truth.accepted_entities and not truth.accepted_changes:
        text = "It blames nothing, rightly, and says why."
    elif not truth.accepted_changes:
        text = "It names the faulty entity and, rightly, no change."
    else:
        text = "It names the faulty entity, the change behind it and the mechanism."
    return text if submission.complete else f"{text} It was given at the session's limit."
