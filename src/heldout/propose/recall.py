"""What earlier jobs for the same model left behind: edits that were refused, and why.

Read once, when a job begins, and stored with the job: what other jobs do meanwhile changes nothing
in one that is stopped and resumed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.edit import Edit, edit_from_plain
from heldout.propose.memory import Rejected, remembered, remembered_from
from heldout.propose.redact import Redactor
from heldout.store import Ledger
from heldout.store.queries import EditEvent, edit_events, gate_reports, proposals

KEPT = 40
"""Memories that a new job takes over, the newest."""
JOBS = 20
"""Earlier jobs that are looked at, the newest."""
PERSON = "a reviewer turned it down"


@dataclass(frozen=True, slots=True)
class Recalled:
    """Memories for the prompt, and what need not be tried again.

    ``edits``: ids that a person turned down. ``brains``: hashes of brains that an edit led to whose
    investigations of the very same incidents spoke against it.
    """

    memory: tuple[Rejected, ...] = ()
    edits: frozenset[str] = frozenset()
    brains: frozenset[str] = frozenset()

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return {
            "memory": [one.stored() for one in self.memory],
            "edits": sorted(self.edits),
            "brains": sorted(self.brains),
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Recalled:
        """What a job was begun with, back from the ledger; an older job knew nothing."""
        return cls(
            tuple(remembered_from(one) for one in data.get("memory", ())),
            frozenset(data.get("edits", ())),
            frozenset(data.get("brains", ())),
        )


def recall(ledger: Ledger, model: str, cases: Sequence[Sequence[str]]) -> Recalled:
    """Read what earlier tuning jobs for ``model`` refused; ``cases`` is what this job works on.

    Left out are edits that were refused for material of the held-out half, those that a later
    round accepted after all, and drafts that passed once their author had mended them: to hear of
    those would warn of good advice.
    """
    memory: list[Rejected] = []
    brains: set[str] = set()
    for job, worked_on in _earlier(ledger, model):
        events = edit_events(ledger, job=job)
        after, sealed = _checked(ledger, job)
        texts = _drafted(events)
        same = worked_on == [list(case) for case in cases]
        for event in _refusals(events):
            if event.edit not in texts or event.edit in sealed:
                continue
            memory.append(_told(texts[event.edit], event, events))
            if same and _spoke_against(event.detail):
                brains |= after.get(event.edit, set())
    turned_down = _turned_down(ledger, model)
    memory += turned_down
    newest = {one.edit: one for one in memory}
    return Recalled(
        tuple(newest.values())[-KEPT:],
        frozenset(one.edit for one in turned_down),
        frozenset(brains),
    )


def _earlier(ledger: Ledger, model: str) -> list[tuple[str, Any]]:
    """Ids of earlier jobs, oldest first, with the incidents that each worked on."""
    rows = ledger.read(
        "SELECT job, detail_json FROM jobs WHERE kind = 'tune' AND model = ?"
        " AND status = 'started' ORDER BY rowid DESC LIMIT ?",
        [model, JOBS],
    )
    return [
        (row["job"], json.loads(row["detail_json"] or "{}").get("cases")) for row in reversed(rows)
    ]


def _refusals(events: Sequence[EditEvent]) -> list[EditEvent]:
    """The last words that were refusals, without repeats and without what was mended."""
    last = {one.edit: one for one in events if one.event in {"accepted", "rejected"}}
    passed = {_slot(one) for one in events if one.event == "gated" and one.detail.get("passed")}
    checkers = {"form", "gate"}
    return [
        one
        for one in events
        if one is last.get(one.edit)
        and one.event == "rejected"
        and one.detail.get("by") != "repeat"
        and not (one.detail.get("by") in checkers and _slot(one) in passed)
    ]


def _slot(event: EditEvent) -> str:
    """Which of a round's drafts an event is about, whoever mended it since."""
    return str(event.detail.get("key", "")).rsplit("/", 2)[0]


def _spoke_against(detail: Mapping[str, Any]) -> bool:
    """Whether investigations gave a reason not to try again; too little evidence is none.

    What a checker refused may pass once the checker changed.
    """
    target, elsewhere = detail.get("target") or {}, detail.get("regression") or {}
    if detail.get("by") == "behaviour":
        return True
    return detail.get("by") == "screen" and (
        target.get("fixed", 0) <= target.get("broken", 0)
        or elsewhere.get("broken", 0) > elsewhere.get("fixed", 0)
    )


def _checked(ledger: Ledger, job: str) -> tuple[dict[str, set[str]], set[str]]:
    """Brains that a job's edits led to, and the edits that held material of the held-out half."""
    after: dict[str, set[str]] = {}
    sealed: set[str] = set()
    for row in gate_reports(ledger, job=job):
        if not row.edit:
            continue
        after.setdefault(row.edit, set()).add(row.after_hash)
        findings = (row.report or {}).get("findings", ())
        if row.test_side_only or any(one.get("incident") == "held-out" for one in findings):
            sealed.add(row.edit)
    return after, sealed


def _drafted(events: Sequence[EditEvent]) -> dict[str, Edit]:
    return {
        one.edit: edit_from_plain(one.detail["edit"], where=f"job {one.job}")
        for one in events
        if one.event == "drafted"
    }


def _told(edit: Edit, event: EditEvent, events: Sequence[EditEvent]) -> Rejected:
    """One refusal as it may be told, without what the gate had marked."""
    marked = [
        str(finding["matched"])
        for one in events
        if one.event == "gated" and one.edit == edit.id
        for finding in one.detail.get("findings", ())
    ]
    return remembered(edit, str(event.detail.get("reason", "")), marked)


def _turned_down(ledger: Ledger, model: str) -> list[Rejected]:
    """Edits of proposals that a person rejected; the reason may name things, so it is redacted."""
    found = []
    for row in reversed(proposals(ledger, model=model)):
        if row.decision is None or row.decision.action != "reject":
            continue
        why = f"{PERSON}: {Redactor().text(row.decision.reason or 'no reason given')}"
        for one in row.edits or ():
            found.append(remembered(edit_from_plain(one["edit"], where=row.proposal), why))
    return found
