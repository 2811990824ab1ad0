"""The course of a tuning job, read back from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.report.data import EditView, EffectView, OpView, Stage, TrainPoint, Tuning
from heldout.stats import majority
from heldout.store import Ledger, queries
from heldout.store.queries import EditEvent, JobRow, RunRow
from heldout.store.spending import proposing

WITHHELD = "The wording is withheld: it touches material of the held-out half."
TUNE = "tune"
"""The kind of the jobs that a report tells of."""
_STAGES = {
    "train": "train",
    "screen": "screening",
    "confirm": "confirmation",
    "probe": "probes",
    "score": "score",
}


def tuning_of(ledger: Ledger, job: str) -> Tuning | None:
    """One job's course; ``None`` when the ledger does not know it."""
    rows = [row for row in queries.jobs(ledger, kind=TUNE) if row.job == job]
    if not rows:
        return None
    newest = rows[0]
    events = queries.edit_events(ledger, job=job)
    edits = edits_of(events, _held_out_findings(ledger, job))
    rejected = tuple(edit for edit in edits if edit.fate in ("rejected", "set aside"))
    runs = queries.runs(ledger, job=job)
    detail = newest.detail if isinstance(newest.detail, dict) else {}
    first = queries.begun(ledger, job, TUNE)
    return Tuning(
        job=job,
        model=newest.model or "",
        status=newest.status,
        reason=str(detail.get("reason", "")),
        rounds=max((event.round or 0 for event in events), default=0),
        course=_course(ledger, runs),
        accepted=tuple(edit for edit in edits if edit.fate == "accepted"),
        rejected=rejected,
        rejected_by=dict(
            sorted(Counter(edit.by for edit in rejected if edit.fate == "rejected").items())
        ),
        stages=_stages(ledger, runs, job),
        proposer=str((first.detail or {}).get("proposer", "")) if first else "",
        strategy=_strategy(first),
        started=first.at if first else newest.at,
        ended=newest.at,
    )


def _strategy(first: JobRow | None) -> str:
    options = (first.detail or {}).get("options") if first else None
    return str((options or {}).get("strategy", ""))


def _held_out_findings(ledger: Ledger, job: str) -> frozenset[str]:
    """Edits that the gate refused for material of the held-out half alone."""
    refused = set()
    for row in queries.gate_reports(ledger, job=job):
        findings = (row.report or {}).get("findings", []) if isinstance(row.report, dict) else []
        hit = any(finding.get("incident") == "held-out" for finding in findings)
        if row.edit and (row.test_side_only or hit):
            refused.add(row.edit)
    return frozenset(refused)


def edits_of(events: Sequence[EditEvent], held_out: frozenset[str] = frozenset()) -> list[EditView]:
    """One view per edit and round, in the order they were drafted."""
    grouped: dict[tuple[str, int], list[EditEvent]] = {}
    for event in events:
        if event.edit:
            grouped.setdefault((event.edit, event.round or 0), []).append(event)
    return [_edit(edit, number, mine, held_out) for (edit, number), mine in grouped.items()]


def _edit(
    edit: str, number: int, events: Sequence[EditEvent], held_out: frozenset[str]
) -> EditView:
    details: dict[str, dict[str, Any]] = {}
    for event in events:
        details[event.event] = event.detail if isinstance(event.detail, dict) else {}
    drafted = details.get("drafted", {}).get("edit") or {}
    # The last word counts: a probe may take out what the screen had accepted.
    fates = [one.event for one in events if one.event in ("accepted", "rejected", "set_aside")]
    fate = fates[-1] if fates else "open"
    said = details.get(fate, {})
    withheld = edit in held_out
    return EditView(
        id=edit,
        round=number,
        fate=fate.replace("_", " "),
        by=str(said.get("by", "")),
        reason=str(said.get("because") or said.get("reason") or ""),
        cluster=str(said.get("cluster") or drafted.get("cluster") or ""),
        rationale="" if withheld else str(drafted.get("reason", "")),
        expected="" if withheld else str(drafted.get("expected_effect", "")),
        feared="" if withheld else str(drafted.get("feared_harm", "")),
        ops=() if withheld else tuple(_op(op) for op in drafted.get("ops", ())),
        looks=sum(event.event == "screened" for event in events),
        target=_effect(said.get("target")),
        regression=_effect(said.get("regression")),
        findings=_findings(details.get("gated", {}), withheld),
        withheld=withheld,
    )


def _op(op: Mapping[str, Any]) -> OpView:
    return OpView(
        file=str(op.get("file", "")),
        action=str(op.get("action", "")),
        anchor=str(op.get("anchor", "")),
        added=tuple(str(op.get("text", "")).splitlines()),
    )


def _effect(plain: Any) -> EffectView | None:
    if not isinstance(plain, dict):
        return None
    names = EffectView.__dataclass_fields__
    return EffectView(**{name: int(plain.get(name, 0)) for name in names})


def _findings(gated: Mapping[str, Any], withheld: bool) -> tuple[str, ...]:
    """The gate's findings as lines; nothing of a held-out one but its rule."""
    if gated.get("failure"):
        return (str(gated["failure"]),)
    lines = []
    for finding in gated.get("findings", ()):
        rule, how = str(finding.get("rule", "")), str(finding.get("how", ""))
        matched = "" if withheld else f" '{finding.get('matched', '')}'"
        lines.append(f"{rule}:{matched} {how}".strip())
    return tuple(dict.fromkeys(lines))


def _course(ledger: Ledger, runs: Sequence[RunRow]) -> tuple[TrainPoint, ...]:
    """Solved train incidents after each measurement; unmeasured ones keep their last state."""
    solved: dict[str, bool] = {}
    points: list[TrainPoint] = []
    for run in runs:
        if run.purpose != "train":
            continue
        repeats = int(run.manifest["repeats"])
        for incident, (passes, valid) in _counts(ledger, run.run).items():
            state = majority(passes, min(valid, repeats), repeats)
            if state is not None:
                solved[incident] = state
        points.append(TrainPoint(len(points), sum(solved.values()), len(solved)))
    return tuple(points)


def _counts(ledger: Ledger, run: str) -> dict[str, tuple[int, int]]:
    """Passes and valid slots by incident: the first valid attempt of a slot counts."""
    slots: dict[tuple[str, str, int], str] = {}
    for row in queries.investigations(ledger, run):
        slot = (row.incident, row.arm, row.repeat)
        result = row.verdicts[0].result if row.verdicts else "invalid"
        if slots.get(slot, "invalid") == "invalid":
            slots[slot] = result
    counted: dict[str, tuple[int, int]] = {}
    for (incident, _, _), result in slots.items():
        passes, valid = counted.get(incident, (0, 0))
        counted[incident] = (passes + (result == "pass"), valid + (result != "invalid"))
    return counted


def _stages(ledger: Ledger, runs: Sequence[RunRow], job: str) -> tuple[Stage, ...]:
    stages: dict[str, Stage] = {}
    for run in runs:
        name = _STAGES.get(run.purpose, run.purpose)
        spent = queries.cost(ledger, run=run.run)
        held = stages.get(name, Stage(name, 0, 0, 0.0, 0.0))
        paid = spent.total_usd
        usd = None if held.usd is None or paid is None else held.usd + paid
        stages[name] = Stage(
            name,
            held.investigations + spent.investigations,
            held.tokens + spent.total_tokens,
            usd,
            held.seconds + spent.seconds,
        )
    reading = proposing(ledger, job=job)
    if reading.calls:
        # Reading failures and drafting stands beside the steps, not among the investigations.
        stages["proposer"] = Stage("proposer", 0, reading.total_tokens, reading.usd, 0.0)
    return tuple(stages.values())
