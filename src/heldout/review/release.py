"""Release a scored brain, or put an earlier one back."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.brain import Brain, load_brain, write_brain
from heldout.errors import UsageError
from heldout.overlays import alike, with_overlay
from heldout.review.decision import Reviewer
from heldout.settings import Settings
from heldout.store import Ledger, remember_brain
from heldout.store import brain as stored_brain
from heldout.store.queries import ScoreRow, scores


@dataclass(frozen=True, slots=True)
class Released:
    """What was released or put back: the brain's hash and the score that it rests on."""

    brain: str
    score: str = ""
    outcome: str = ""


def release(
    settings: Settings, ledger: Ledger, reviewer: Reviewer, *, model: str, force: bool = False
) -> Released:
    """Mark the brain in use as released for a model.

    It must have been scored for that model as the brain after, with an outcome other than harm;
    ``force`` releases without, and the row says so.
    """
    current = load_brain(settings.brain)
    score = score_of(ledger, current, model)
    outcome = (score.outcome or "") if score else ""
    if not force and (score is None or outcome in {"", "harm"}):
        raise UsageError(
            "the brain in use has no score" if score is None else f"its score says '{outcome}'",
            where=f"{current.hash[:12]} for {model}",
            mend="Run 'heldout score', or pass --force with a reason",
        )
    remember_brain(ledger, current)
    _append(ledger, current.hash, "release", model, score.score if score else None, reviewer)
    return Released(current.hash, score.score if score else "", outcome)


def revert(
    settings: Settings, ledger: Ledger, reviewer: Reviewer, digest: str, *, model: str = ""
) -> Released:
    """Write an earlier brain, by its hash or the beginning of it, back to the brain's files.

    With a ``model`` only its overlay goes back to what it was in that brain: nothing that was
    accepted for other models since is lost. The brain in use is kept in the ledger first, so that
    going back can itself be taken back.
    """
    target = stored_brain(ledger, digest)
    current = load_brain(settings.brain)
    if model:
        target = with_overlay(current, target, model)
        remember_brain(ledger, target)
    if current.hash == target.hash:
        raise UsageError(
            "that brain is in use already", where=target.hash[:12], mend="Nothing to do"
        )
    remember_brain(ledger, current)
    ledger.flush()
    write_brain(target, settings.brain)
    _append(ledger, current.hash, "withdraw", model or None, None, reviewer)
    _append(ledger, target.hash, "revert", model or None, None, reviewer)
    return Released(target.hash)


def score_of(ledger: Ledger, brain: Brain, model: str) -> ScoreRow | None:
    """The newest finished score of a brain for a model.

    Overlays of other models make no difference: this one never reads them.
    """
    for row in scores(ledger, model=model):
        if row.ended is None or not row.after_hash:
            continue
        same = row.after_hash == brain.hash
        if same or alike(stored_brain(ledger, row.after_hash), brain, model):
            return row
    return None


def _append(
    ledger: Ledger,
    brain_hash: str,
    action: str,
    model: str | None,
    score: str | None,
    reviewer: Reviewer,
) -> None:
    ledger.append(
        "releases",
        [
            {
                "brain_hash": brain_hash,
                "action": action,
                "model": model,
                "score": score,
                "name": reviewer.name,
                "reason": reviewer.reason,
            }
        ],
    )
    ledger.flush()
