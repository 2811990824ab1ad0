"""What a scheduler's page shows of a job: Markdown, a table, and facts that may leave the house.

Only train is shown in detail; of the held-out half there are counts and the verdict's sentence.
"""

from __future__ import annotations

import re
from typing import Any

from heldout.pipeline.job import Job, JobResult, Tuned, settings_of

SIGNS = {
    ":x:": "✗",
    ":warning:": "⚠",
    ":white_check_mark:": "✓",
    ":grey_question:": "?",
}
"""What GitHub's names of signs stand for, on pages that do not know them."""


def signed(markdown: str) -> str:
    """Markdown with signs in the place of GitHub's names for them, at the start of list items."""
    return re.sub(
        r"(?m)^- (:[a-z_]+:) ", lambda found: f"- {SIGNS.get(found[1], found[1])} ", markdown
    )


def page_key(what: str, model: str) -> str:
    """A name for a page of one model: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"{what}-{model}".lower()).strip("-")


def proposal_markdown(job: Job, tuned: Tuned) -> str:
    """The proposal with its diff and what is known of it; why there is none where there is none."""
    if not tuned.proposal:
        return f"No proposal.\n\n{tuned.sentence}\n"
    from heldout.review.announcing import comment_on
    from heldout.store import Ledger

    settings = settings_of(job)
    with Ledger.open(settings.ledger) as ledger:
        return signed(comment_on(settings, ledger, tuned.proposal))


def train_table(job: Job, tuned: Tuned) -> list[dict[str, str]]:
    """What was measured on train, on fresh repeats, as rows of a table."""
    rows = [{"measured": "job", "said": tuned.sentence}]
    if not tuned.proposal:
        return rows
    from heldout.review.page import evidence_class, measures, verdict_sentence
    from heldout.store import Ledger
    from heldout.store.queries import proposal

    with Ledger.open(settings_of(job).ledger) as ledger:
        evidence = proposal(ledger, tuned.proposal).evidence or {}
    rows.append({"measured": "evidence", "said": evidence_class(evidence)})
    rows.append({"measured": "traps", "said": verdict_sentence(evidence)})
    return rows + [{"measured": name, "said": said} for name, said in measures(evidence)]


def job_markdown(job: Job, done: JobResult) -> str:
    """How a whole job ended, with the sentence of each score and the report's path."""
    from heldout.score import read_score
    from heldout.store import Ledger
    from heldout.store.queries import score

    lines = [f"### Tuning job `{done.tuned.job}`", "", done.tuned.sentence, ""]
    if done.waits:
        lines += [f"Next: `heldout review {done.tuned.proposal}`", ""]
    with Ledger.open(settings_of(job).ledger) as ledger:
        for name in done.scores:
            result = read_score(score(ledger, name).result, where=f"score {name}")
            lines += [f"**{result.evidence.sentence()}** {result.verdict()}", ""]
    if done.report:
        lines.append(f"Report: `{done.report}`")
    return "\n".join(lines) + "\n"


def form_of(job: Job, done: JobResult) -> dict[str, Any]:
    """Parameters of the review flow that asks about the proposal a job left."""
    return {
        "proposal": done.tuned.proposal,
        "project": job.project,
        "minutes": job.review_minutes,
    }


def job_facts(job: Job, done: JobResult) -> dict[str, Any]:
    """How a job ended, for notifications: names of ours and counts, nothing of any incident."""
    tuned = done.tuned
    return {
        "job": tuned.job,
        "model": settings_of(job).models.agent,
        "status": tuned.status,
        "proposal": tuned.proposal,
        "waits": done.waits,
        "scores": len(done.scores),
        "next": f"heldout review {tuned.proposal}" if done.waits else "",
    }
