"""What the ledger says: typed results, newest state of what only ever grows.

Times are integer microseconds since the epoch, UTC. ``usd`` is ``None`` where a price is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from heldout.errors import UsageError
from heldout.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job in its newest state."""

    job: str
    kind: str
    status: str
    model: str | None
    set: str | None
    before_hash: str | None
    detail: Any
    at: int

    @property
    def unfinished(self) -> bool:
        """True for one that did not come to its end; it can be resumed."""
        return self.status in ("started", "running", "resumed", "interrupted")


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with its newest manifest and status: started, resumed, finished, error or capped."""

    run: str
    job: str | None
    purpose: str
    set: str | None
    model: str
    manifest: dict[str, Any]
    cases: list[dict[str, Any]]
    started: int
    status: str
    status_detail: Any
    status_at: int


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One verdict on one investigation; ``author`` is set when a person gave it."""

    judge: str
    result: str
    reasoning: str
    criteria: dict[str, Any]
    author: str | None
    at: int


@dataclass(frozen=True, slots=True)
class InvestigationRow:
    """One attempt at one slot, without its trace. ``reason`` is not empty when it is invalid.

    The counts of how it worked are ``None`` without a trace and in rows of an older heldout.
    """

    run: str
    incident: str
    arm: str
    repeat: int
    attempt: int
    seed: int
    model: str
    served_model: str
    brain: str
    reason: str
    detail: str
    stop_reason: str | None
    calls: int
    replayed: int | None
    steps: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float
    root_cause_entity: str | None
    root_cause_change: str | None
    trace: bytes | None
    started: int
    ended: int
    change_searches: int | None = None
    early_searches: int | None = None
    repeated_calls: int | None = None
    cited_ids: int | None = None
    shown_ids: int | None = None
    reasoning_tokens: int | None = None
    verdicts: tuple[VerdictRow, ...] = ()
    """In the order they were given; the first is the run's own, the last the newest opinion."""


@dataclass(frozen=True, slots=True)
class EditEvent:
    """One step in the life of an edit within a job."""

    edit: str
    job: str
    round: int | None
    event: str
    detail: Any
    at: int


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """What a person (or the policy ``auto``) decided about a proposal, bound to the diff's hash."""

    proposal: str
    diff_hash: str
    action: str
    edits: Any
    name: str | None
    reason: str | None
    at: int


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """A proposed diff with its newest decision; ``None`` means that it waits."""

    proposal: str
    job: str | None
    model: str | None
    set: str | None
    before_hash: str
    after_hash: str
    diff: str
    diff_hash: str
    edits: Any
    evidence: Any
    created: int
    decision: DecisionRow | None = None


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score in its newest state; ``outcome`` is ``None`` while it runs."""

    score: str
    job: str | None
    run: str | None
    model: str
    set: str | None
    before_hash: str | None
    after_hash: str | None
    endpoint: Any
    endpoint_hash: str | None
    result: Any
    outcome: str | None
    report_path: str | None
    started: int
    ended: int | None
    gate_version: str | None
    inventory_hash: str | None
    vocabulary_hash: str | None
    checkers_hash: str | None
    findings: int | None
    exceptions: int | None


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A brain released or reverted to."""

    brain_hash: str
    action: str
    model: str | None
    score: str | None
    name: str | None
    reason: str | None
    at: int


@dataclass(frozen=True, slots=True)
class GateRow:
    """One run of the gate over one edit."""

    job: str | None
    edit: str | None
    before_hash: str | None
    after_hash: str
    passed: bool
    preexisting: int | None
    test_side_only: bool | None
    report: Any
    gate_version: str | None
    inventory_hash: str | None
    vocabulary_hash: str | None
    checkers_hash: str | None
    seconds: float | None
    at: int
    exceptions: int | None
    excused: int | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What investigations cost. ``usd`` is ``None`` when one of them has an unknown price."""

    investigations: int
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float
    """Summed over investigations; with several in flight more than the wall clock shows."""
    judge_calls: int = 0
    judge_tokens: int = 0
    judge_usd: float | None = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Both together; unknown as soon as one price is."""
        mine, theirs = asdict(self), asdict(other)
        return Cost(**{name: _sum(mine[name], theirs[name]) for name in mine})

    @property
    def total_usd(self) -> float | None:
        """What investigating and judging cost together."""
        if self.usd is None or self.judge_usd is None:
            return None
        return self.usd + self.judge_usd

    @property
    def total_tokens(self) -> int:
        """Tokens in and out, of investigating and judging together."""
        return self.input_tokens + self.output_tokens + self.judge_tokens


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    """Columns ``x_json`` become ``x``, parsed."""
    return {
        name.removesuffix("_json"): (
            json.loads(value) if name.endswith("_json") and value is not None else value
        )
        for name, value in row.items()
    }


def _where(**wanted: Any) -> tuple[str, list[Any]]:
    held = {name: value for name, value in wanted.items() if value is not None}
    if not held:
        return "", []
    return " WHERE " + " AND ".join(f'"{name}" = ?' for name in held), list(held.values())


_NEWEST = "QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY rowid DESC) = 1"


def jobs(ledger: Ledger, *, model: str | None = None, kind: str | None = None) -> list[JobRow]:
    """Every job in its newest state, the one that changed last first."""
    where, params = _where(model=model, kind=kind)
    newest = _NEWEST.format(key="job")
    sql = f"SELECT * FROM jobs{where} {newest} ORDER BY rowid DESC"
    return [JobRow(**_typed(row)) for row in ledger.read(sql, params)]


def begun(ledger: Ledger, job: str, kind: str) -> JobRow | None:
    """A job as it began, with what it was asked for; ``None`` when the ledger does not know it."""
    sql = "SELECT * FROM jobs WHERE job = ? AND kind = ? ORDER BY rowid LIMIT 1"
    rows = ledger.read(sql, [job, kind])
    return JobRow(**_typed(rows[0])) if rows else None


def runs(
    ledger: Ledger,
    *,
    job: str | None = None,
    purpose: str | None = None,
    model: str | None = None,
    run: str | None = None,
) -> list[RunRow]:
    """Runs with their newest status, oldest first."""
    where, params = _where(job=job, purpose=purpose, model=model, run=run)
    sql = (
        'WITH newest AS (SELECT run, status, detail_json AS status_detail_json, "at" AS status_at'
        f" FROM run_events {_NEWEST.format(key='run')}),"
        " extended AS (SELECT run, manifest_json AS extended_json FROM manifests"
        f" {_NEWEST.format(key='run')})"
        ' SELECT run, job, purpose, "set", model,'
        " coalesce(extended_json, manifest_json) AS manifest_json, cases_json, started,"
        " coalesce(status, 'started') AS status, status_detail_json,"
        " coalesce(status_at, started) AS status_at"
        " FROM runs LEFT JOIN newest USING (run) LEFT JOIN extended USING (run)"
        f"{where} ORDER BY runs.rowid"
    )
    return [RunRow(**_typed(row)) for row in ledger.read(sql, params)]


def run(ledger: Ledger, run_id: str) -> RunRow:
    """One run by its id or the beginning of it; none or several is a :class:`UsageError`."""
    every = [row["run"] for row in ledger.read("SELECT run FROM runs ORDER BY rowid DESC")]
    known = [one for one in every if one.startswith(run_id)]
    if len(known) != 1 or not run_id:
        raise _not_one("run", run_id, known or every)
    return runs(ledger, run=known[0])[0]


def investigations(ledger: Ledger, run_id: str) -> list[InvestigationRow]:
    """Every attempt of a run with its verdicts, ordered by incident, arm, repeat, attempt."""
    given: dict[tuple[Any, ...], list[VerdictRow]] = {}
    for row in ledger.read("SELECT * FROM verdicts WHERE run = ? ORDER BY rowid", [run_id]):
        typed = _typed(row)
        key = (row["incident"], row["arm"], row["repeat"], row["attempt"])
        verdict = VerdictRow(
            judge=typed["judge"],
            result=typed["result"],
            reasoning=typed["reasoning"] or "",
            criteria=typed["criteria"] or {},
            author=typed["author"],
            at=typed["at"],
        )
        given.setdefault(key, []).append(verdict)
    rows = ledger.read(
        "SELECT * FROM investigations WHERE run = ? ORDER BY incident, arm, repeat, attempt",
        [run_id],
    )
    found = []
    rows.reverse()
    while rows:  # Let go of one form as the other is made: there may be many thousand.
        row = rows.pop()
        key = (row["incident"], row["arm"], row["repeat"], row["attempt"])
        found.append(InvestigationRow(**row, verdicts=tuple(given.pop(key, ()))))
    return found


def edit_events(
    ledger: Ledger, *, job: str | None = None, edit: str | None = None
) -> list[EditEvent]:
    """The history of a job's edits (or of one edit), oldest first."""
    where, params = _where(job=job, edit=edit)
    sql = f"SELECT * FROM edit_events{where} ORDER BY rowid"
    return [EditEvent(**_typed(row)) for row in ledger.read(sql, params)]


def gate_reports(
    ledger: Ledger, *, job: str | None = None, edit: str | None = None
) -> list[GateRow]:
    """The gate's reports, oldest first."""
    where, params = _where(job=job, edit=edit)
    sql = f"SELECT * FROM gate_reports{where} ORDER BY rowid"
    return [GateRow(**_typed(row)) for row in ledger.read(sql, params)]


def decisions(ledger: Ledger, proposal_id: str | None = None) -> list[DecisionRow]:
    """Every decision (on one proposal), oldest first."""
    where, params = _where(proposal=proposal_id)
    sql = f"SELECT * FROM decisions{where} ORDER BY rowid"
    return [DecisionRow(**_typed(row)) for row in ledger.read(sql, params)]


def proposals(
    ledger: Ledger, *, model: str | None = None, job: str | None = None, waiting: bool = False
) -> list[ProposalRow]:
    """Proposals with their newest decision, newest first; ``waiting``: only undecided ones."""
    newest = {decision.proposal: decision for decision in decisions(ledger)}
    where, params = _where(model=model, job=job)
    sql = f"SELECT * FROM proposals{where} ORDER BY rowid DESC"
    found = [
        ProposalRow(**_typed(row), decision=newest.get(row["proposal"]))
        for row in ledger.read(sql, params)
    ]
    return [row for row in found if row.decision is None] if waiting else found


def proposal(ledger: Ledger, proposal_id: str) -> ProposalRow:
    """One proposal by its id or the beginning of it; none or several is a :class:`UsageError`."""
    every = proposals(ledger)
    matching = [row for row in every if row.proposal.startswith(proposal_id)]
    if len(matching) != 1 or not proposal_id:
        known = [row.proposal for row in (matching or every)]
        raise _not_one("proposal", proposal_id, known)
    return matching[0]


def looks(ledger: Ledger, model: str) -> dict[str, int]:
    """How often each incident was opened for a model; one never opened is not in it."""
    sql = "SELECT incident, count(*) AS n FROM looks WHERE model = ? GROUP BY ALL ORDER BY incident"
    return {row["incident"]: row["n"] for row in ledger.read(sql, [model])}


def scores(ledger: Ledger, *, model: str | None = None, job: str | None = None) -> list[ScoreRow]:
    """Scores in their newest state, newest first."""
    where, params = _where(model=model, job=job)
    newest = _NEWEST.format(key="score")
    sql = f"SELECT * FROM scores{where} {newest} ORDER BY rowid DESC"
    return [ScoreRow(**_typed(row)) for row in ledger.read(sql, params)]


def score(ledger: Ledger, score_id: str) -> ScoreRow:
    """One score by its id or the beginning of it; none or several is a :class:`UsageError`."""
    every = scores(ledger)
    matching = [row for row in every if row.score.startswith(score_id)]
    if len(matching) != 1 or not score_id:
        raise _not_one("score", score_id, [row.score for row in (matching or every)])
    return matching[0]


def releases(ledger: Ledger, *, model: str | None = None) -> list[ReleaseRow]:
    """Releases and reverts, oldest first."""
    where, params = _where(model=model)
    sql = f"SELECT * FROM releases{where} ORDER BY rowid"
    return [ReleaseRow(**_typed(row)) for row in ledger.read(sql, params)]


def cost(
    ledger: Ledger,
    *,
    job: str | None = None,
    run: str | None = None,
    model: str | None = None,
    purpose: str | None = None,
    since: int = 0,
) -> Cost:
    """What a job's, a run's, a model's or all investigations cost, invalid ones included.

    An attempt that a cap or the judge stopped and the next one went on with is counted once, with
    the latter. ``usd`` and tokens are the agent's; judging, also afterwards, stands beside them.
    With ``since`` only what ended then or later counts.
    """
    where, params = _where(job=job, run=run, asked=model, purpose=purpose)
    later = f"{where} {'AND' if where else 'WHERE'}"
    sql = (
        "SELECT count(*) AS investigations, coalesce(sum(calls), 0) AS calls,"
        " coalesce(sum(input_tokens), 0) AS input_tokens,"
        " coalesce(sum(cached_tokens), 0) AS cached_tokens,"
        " coalesce(sum(output_tokens), 0) AS output_tokens,"
        " CASE WHEN bool_or(usd IS NULL AND calls > 0) THEN NULL"
        " ELSE coalesce(sum(usd), 0.0) END AS usd,"
        " coalesce(sum(seconds), 0.0) AS seconds"
        f" FROM ({_PAID}) JOIN ({_ASKED}) AS r USING (run) {later} ended >= ?"
    )
    judging = (
        "SELECT coalesce(sum(calls), 0) AS judge_calls,"
        " coalesce(sum(input_tokens + output_tokens), 0) AS judge_tokens,"
        " CASE WHEN bool_or(usd IS NULL AND calls > 0) THEN NULL"
        " ELSE coalesce(sum(usd), 0.0) END AS judge_usd"
        f' FROM verdicts JOIN ({_ASKED}) AS r USING (run) {later} "at" >= ?'
    )
    params = [*params, since]
    row = ledger.read(sql, params)[0] | ledger.read(judging, params)[0]
    whole = (
        "calls", "input_tokens", "cached_tokens", "output_tokens", "judge_calls", "judge_tokens",
    )  # fmt: skip
    return Cost(**{name: int(value) if name in whole else value for name, value in row.items()})


_ASKED = "SELECT run, job, model AS asked, purpose FROM runs"
_PAID = """
    SELECT * FROM investigations AS one WHERE one.reason NOT IN ('cap', 'judge') OR NOT EXISTS (
        SELECT 1 FROM investigations AS later
        WHERE (later.run, later.incident, later.arm, later.repeat, later.attempt)
            = (one.run, one.incident, one.arm, one.repeat, one.attempt + 1) AND later.replayed > 0
    )
"""


def _not_one(thing: str, wanted: str, known: Sequence[str]) -> UsageError:
    listed = ", ".join(list(known)[:8]) or "none"
    return UsageError(
        f"'{wanted}' names no {thing}, or more than one", mend=f"Known here: {listed}"
    )
