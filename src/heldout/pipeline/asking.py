"""A reviewer's word on a proposal, given in a form; silence applies nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from heldout.errors import UsageError
from heldout.settings import load_settings


class Word(BaseModel):
    """What the form asks. No field has a value beforehand: an empty form decides nothing."""

    decision: Literal["accept", "accept and score", "reject"] = Field(
        description="accept writes the brain; scoring opens the held-out half and counts a look"
    )
    name: str = Field(min_length=1, max_length=200, description="who decides")
    reason: str = Field(min_length=1, max_length=2000, description="why, for whoever asks later")


@dataclass(frozen=True, slots=True)
class Asked:
    """A proposal as it is shown to a reviewer: its whole id, its model, Markdown with the diff."""

    proposal: str
    model: str
    diff_hash: str
    text: str


def show_proposal(project: str, proposal: str) -> Asked:
    """Read a proposal that waits; one that is decided already is a :class:`UsageError`."""
    from heldout.pipeline.showing import signed
    from heldout.review.announcing import comment_on
    from heldout.review.decision import require_open
    from heldout.store import Ledger
    from heldout.store.queries import proposal as find_proposal

    settings = load_settings(Path(project) if project else None)
    with Ledger.open(settings.ledger) as ledger:
        row = find_proposal(ledger, proposal)
        require_open(row)
        text = signed(comment_on(settings, ledger, row.proposal))
    return Asked(row.proposal, row.model or settings.models.agent, row.diff_hash, text)


def given_word(decision: str, name: str, reason: str) -> Word | None:
    """The word that came with the run itself; ``None`` where a form must ask."""
    if not decision:
        return None
    if not name or not reason:
        raise UsageError("a decision needs a name and a reason", mend="Give both, or no decision")
    return Word.model_validate({"decision": decision, "name": name, "reason": reason})


def do_as_said(project: str, asked: Asked, word: Word) -> str:
    """Accept or reject what was shown, score if that was said; returns what was done.

    The word is bound to the diff that was shown: another diff by then is a :class:`UsageError`.
    """
    from heldout.pipeline.verbs import score_by_name
    from heldout.review import Reviewer, accept, reject
    from heldout.store import Ledger
    from heldout.terminal import visible

    settings, who = (
        load_settings(Path(project) if project else None),
        Reviewer(word.name, word.reason),
    )
    by = f"{asked.proposal} by {visible(word.name, 80)}"
    with Ledger.open(settings.ledger) as ledger:
        if word.decision == "reject":
            reject(ledger, asked.proposal, who, seen=asked.diff_hash)
            return f"Rejected {by}"
        done = accept(settings, ledger, asked.proposal, who, seen=asked.diff_hash)
    said = f"Accepted {by}: the brain is now {done.after[:12]}"
    if word.decision == "accept":
        return said
    return f"{said}. Report: {score_by_name(project, asked.model, done.before, done.after)}"
