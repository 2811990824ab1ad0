"""A waiting proposal, told to people: a webhook's message, and a comment in GitHub's Markdown.

Neither decides anything: a proposal waits until somebody does. The message leaves the house, so it
holds counts and names of ours only: no line of the brain, no text of a model, no incident. The
comment is meant for the repository that holds the brain, so it shows the diff, which the gate let
through; what models wrote stands in it as code, where it can neither mention nor format.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from heldout.review.decision import open_proposal
from heldout.review.flags import Looked, look
from heldout.review.page import evidence_class, harm_sentence, subject, verdict_sentence
from heldout.review.sheet import Sheet, sheet
from heldout.review.webhook import post
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store.queries import proposal as find_proposal
from heldout.terminal import visible
from heldout.tune.log import Entry, JobLog

MOST_DIFF = 40_000
"""Characters of a diff in a comment; GitHub takes 65,536 in all."""
_TICKS = re.compile(r"`+")


def message(ledger: Ledger, proposal_id: str) -> dict[str, Any]:
    """What a webhook is sent; ``text`` alone is what chat services show."""
    proposed = open_proposal(ledger, proposal_id)
    row, evidence = proposed.row, proposed.row.evidence or {}
    asked = subject(proposed)
    states = {one.kind: one.state for one in look(asked)}
    found = [f"{kind}: {state}" for kind, state in states.items() if state != "clear"]
    text = "\n".join(
        [
            f"A brain proposal for {row.model} waits for a person: {row.proposal}",
            evidence_class(evidence),
            verdict_sentence(evidence),
            f"controls: {harm_sentence(evidence)}",
            f"to look at: {', '.join(found) or 'nothing was flagged'}",
            f"Next: heldout review {row.proposal} --serve. Silence applies nothing.",
        ]
    )
    return {
        "text": text,
        "proposal": row.proposal,
        "job": row.job,
        "model": row.model,
        "set": row.set,
        "simulated": bool(evidence.get("simulated")),
        "confirmed": bool(evidence.get("confirmed")),
        "verdict": verdict_sentence(evidence),
        "edits": len(row.edits or []),
        "added_lines": len(asked.added),
        "looked_for": states,
        "diff_hash": row.diff_hash,
    }


async def announce(
    settings: Settings, ledger: Ledger, proposal_id: str, note: Callable[[str], None]
) -> None:
    """Send the message once, where the environment holds an address and the proposal waits.

    An address that does not answer is told to ``note`` and raises nothing. That the message was
    sent, or why not, becomes a row without the address.
    """
    url = os.environ.get(settings.review.webhook, "").strip()
    if not url or find_proposal(ledger, proposal_id).decision is not None:
        return
    told = message(ledger, proposal_id)
    log = JobLog(ledger, str(told["job"]))
    key = f"announced/{told['proposal']}"
    if log.known(key) is not None:
        return
    failure = await post(url, told)
    log.record(Entry(key, "announced"), {"proposal": told["proposal"], "failure": failure})
    await ledger.aflush()
    if failure:
        note(f"the webhook in {settings.review.webhook} was not told: {failure}")


def comment_on(settings: Settings, ledger: Ledger, proposal_id: str) -> str:
    """A proposal as a comment in GitHub-flavoured Markdown."""
    proposed = open_proposal(ledger, proposal_id)
    return comment(sheet(settings, ledger, proposed.row.proposal), proposed.row.diff)


def comment(shown: Sheet, diff: str) -> str:
    """The comment's text; everything that is not ours stands in it as code."""
    lines = [
        f"### Brain proposal {code(shown.proposal)} for {code(shown.model)}",
        "",
        f"**{shown.verdict}**",
        f"_{shown.evidence_class}_",
        "",
        *(f"- :x: behaviour not passed: {code(why)}" for why in shown.failures),
        *(line for one in shown.looked for line in _looked_lines(one)),
        "",
        "| measured | |",
        "|---|---|",
        *(f"| {label} | {said} |" for label, said in shown.measures),
        "",
        *_edit_lines(shown),
        *_fenced(diff),
        "",
        f"Diff {code(shown.diff_hash[:12])}, brain {code(shown.before[:12])} to "
        f"{code(shown.after[:12])}. Decide with "
        f"{code(f'heldout review {shown.proposal} --serve')}; silence applies nothing.",
    ]
    return "\n".join(lines) + "\n"


def _looked_lines(one: Looked) -> list[str]:
    sign = {"flag": ":x:", "look": ":warning:", "clear": ":white_check_mark:"}
    head = f"- {sign.get(one.state, ':grey_question:')} {one.kind}"
    if not one.flags:
        return [f"{head}: {'; '.join(map(code, one.missing)) or 'nothing found'}"]
    return [f"{head}: {code(flag.said)}" for flag in one.flags]


def _edit_lines(shown: Sheet) -> list[str]:
    notes = {block.note.edit: block.note for block in shown.blocks if block.note is not None}
    lines = []
    for edit in filter(None, notes):
        note = notes[edit]
        lines += [
            f"- edit {code(edit)}: the agent will now: {code(note.will_do)}",
            f"  - its failures: {note.effect}; elsewhere: {note.elsewhere}",
            *([f"  - feared: {code(note.feared)}"] if note.feared else []),
        ]
    return [*lines, ""] if lines else []


def _fenced(diff: str) -> list[str]:
    """The diff in a fence that no line of it can close."""
    text = visible(diff, 1_000, lines=True).rstrip("\n")
    if len(text) > MOST_DIFF:
        text = text[:MOST_DIFF].rsplit("\n", 1)[0] + "\n(cut: see the page for the rest)"
    fence = "`" * max(3, 1 + _longest(text))
    return [f"{fence}diff", text, fence]


def code(text: str) -> str:
    """A text as inline code: nothing in it is Markdown, a mention or a reference."""
    plain = visible(text, 400)
    ticks = "`" * (1 + _longest(plain))
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}" if plain.strip() else "(empty)"


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
