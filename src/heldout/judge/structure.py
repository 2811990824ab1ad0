"""What ids alone decide about a submission: exactly, in code, for every judge.

No text in an answer can reach this part, whoever judges the rest: a wrong entity or change stays
wrong. The sentences name the truth; whoever shows them to a proposer redacts them first.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from heldout.interface import Submission
from heldout.judge.words import LONGEST, words
from heldout.truth import NearMiss, Truth


@dataclass(frozen=True, slots=True)
class Structure:
    """``entity`` and ``change`` as compared, empty for 'none'; ``listed``: a slot with several."""

    entity: str
    change: str
    answered: bool
    entity_right: bool
    change_right: bool
    listed: str
    near: NearMiss | None

    @property
    def holds(self) -> bool:
        """True if only the words are left to be judged."""
        right = self.answered and self.entity_right and self.change_right
        return right and not self.listed and self.near is None

    def criteria(self) -> dict[str, bool]:
        """The criteria that are settled by ids."""
        return {
            "answered": self.answered,
            "entity": self.answered and self.entity_right,
            "change": self.answered and self.change_right,
            "not_near_miss": self.near is None,
        }


def structure_of(submission: Submission, truth: Truth) -> Structure:
    """Compare the ids of a submission with the accept sets of the truth."""
    entity, change = _named(submission.root_cause_entity), _named(submission.root_cause_change)
    said = bool(entity or change or submission.mechanism[:LONGEST].strip())
    return Structure(
        entity=entity,
        change=change,
        answered=submission.complete or said,
        entity_right=_accepted(entity, truth.accepted_entities),
        change_right=_accepted(change, truth.accepted_changes),
        listed=_listed(submission),
        near=_near_miss(entity, change, truth),
    )


def structure_texts(
    found: Structure, submission: Submission, truth: Truth, shown: Collection[str] | None
) -> list[str]:
    """What is wrong with the ids, in sentences; empty ones left out."""
    parts = [
        _entity_text(found, truth, shown),
        _change_text(found, truth, submission, shown),
    ]
    return [part for part in parts if part]


def near_text(found: Structure, truth: Truth) -> str:
    """Why a known wrong answer is wrong, unless that was said of the decoy already."""
    near = found.near
    if near is None or any(
        one.change.casefold() == found.change and one.why_innocent == near.why_wrong
        for one in truth.decoys
    ):
        return ""
    return f"It is a known wrong answer: {sentence(near.why_wrong)}"


def solution(truth: Truth) -> str:
    """What happened, as the last sentence of a reasoning."""
    happened = truth.mechanism.strip()
    return f"What happened: {sentence(happened)}" if happened else ""


def praise(submission: Submission, truth: Truth) -> str:
    """What a passing answer got right."""
    if not truth.accepted_entities and not truth.accepted_changes:
        text = "It blames nothing, rightly, and says why."
    elif not truth.accepted_changes:
        text = "It names the faulty entity and, rightly, no change."
    else:
        text = "It names the faulty entity, the change behind it and the mechanism."
    return text if submission.complete else f"{text} It was given at the session's limit."


def silence(truth: Truth) -> str:
    """The reasoning where nothing was submitted."""
    return f"No diagnosis was submitted before the investigation ended. {solution(truth)}"


def sentence(text: str) -> str:
    """A text with a full stop."""
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _named(value: str | None) -> str:
    """The id as compared; empty for 'none'."""
    text = (value or "").strip().casefold()
    return "" if text == "none" else text


def _accepted(named: str, accepted: tuple[str, ...]) -> bool:
    return named in {_named(one) for one in accepted} if accepted else not named


def _listed(submission: Submission) -> str:
    for value in (submission.root_cause_entity, submission.root_cause_change):
        if value and len(words(value)) > 0 and any(mark in value.strip() for mark in " ,;/|"):
            return value.strip()[:120]
    return ""


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


def _entity_text(found: Structure, truth: Truth, shown: Collection[str] | None) -> str:
    entity = found.entity
    if found.entity_right:
        return ""
    if not truth.accepted_entities:
        return f"It blames entity {entity}, but nothing in the evidence proves a faulty entity."
    right = truth.culprit_entity or truth.accepted_entities[0]
    never = ""
    if shown is not None and not set(truth.accepted_entities) & set(shown):
        never = " No tool call ever showed the faulty entity."
    if not entity:
        return f"It names no faulty entity, but there is one: {right}.{never}"
    if entity in {one.casefold() for one in truth.affected}:
        return f"It blames {entity}, which only shows the symptom; the fault is on {right}.{never}"
    return f"It blames entity {entity}; the fault is on {right}.{never}"


def _change_text(
    found: Structure, truth: Truth, submission: Submission, shown: Collection[str] | None
) -> str:
    change = found.change
    if found.change_right:
        return ""
    decoy = next((one for one in truth.decoys if one.change.casefold() == change), None)
    innocent = f" That change is innocent: {sentence(decoy.why_innocent)}" if decoy else ""
    if not truth.accepted_changes:
        return f"It blames change {change}, but no change caused this.{innocent}"
    right = truth.culprit_change or truth.accepted_changes[0]
    did = _seen(right, submission, shown)
    field = f" (it altered {truth.culprit_field})" if truth.culprit_field else ""
    if not change:
        return f"It says that no change is to blame, but {right} is{field}; {did}."
    return f"It blames change {change}, not {right}{field}; of that one, {did}.{innocent}"
