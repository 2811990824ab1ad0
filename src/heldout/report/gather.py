"""From ledger rows to :class:`heldout.report.data.ReportData`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.errors import UsageError
from heldout.llm.names import ModelName
from heldout.report.data import HalfRow, ProposalView, ReportData, Tuning
from heldout.report.evidence import evidence_table
from heldout.report.fidelity import fidelity_notes
from heldout.report.history import TUNE, tuning_of
from heldout.report.judges import judge_notes
from heldout.report.over_time import over_time
from heldout.report.transfer import table_beside
from heldout.report.wishes import wishes
from heldout.score import Score, read_score
from heldout.settings import Settings
from heldout.stats import mcnemar_exact
from heldout.store import Ledger, now_us, queries
from heldout.store.queries import ProposalRow, ScoreRow

AUTO = "policy:auto"


def gather(ledger: Ledger, settings: Settings, name: str = "") -> ReportData:
    """The data of one report. ``name`` is a score, a job or a proposal, by the beginning of its id.

    An empty name is the newest score, or the newest job when there is none. Nothing found is a
    :class:`UsageError`.
    """
    row, job = _find(ledger, name)
    score = read_score(row.result, where=f"score {row.score}") if row and row.result else None
    job = job or (score.job if score else "")
    proposal = _proposal(ledger, job, score)
    tuning = tuning_of(ledger, job) if job else None
    model = score.model if score else (tuning.model if tuning else "")
    evidence = proposal.evidence if proposal and isinstance(proposal.evidence, dict) else {}
    return ReportData(
        title=_title(score, tuning),
        project=settings.name,
        model=model,
        set=score.set if score else (proposal.set or settings.set if proposal else settings.set),
        evidence=score.evidence.sentence() if score else _unscored(model),
        verdict=score.verdict() if score else _open_verdict(tuning, proposal),
        word=score.outcome if score else "not scored",
        made_at=now_us(),
        halves=(*_train_rows(evidence), *_test_rows(score)),
        score=score,
        arms=evidence_table(ledger, score),
        others=_others(ledger, score),
        tuning=tuning,
        proposal=_proposal_view(proposal, evidence),
        review=_review(proposal),
        judges=judge_notes(ledger, _runs(ledger, score, job)),
        hashes=_hashes(ledger, score, proposal),
        unfinished=_unfinished(ledger, job),
        wishes=wishes(ledger, settings, evidence),
        fidelity=fidelity_notes(ledger, model),
        transfer=table_beside(ledger, score),
        over_time=over_time(ledger, settings, model, score) if model else None,
    )


def _runs(ledger: Ledger, score: Score | None, job: str) -> list[str]:
    """The runs whose verdicts a report rests on: the score's, or those of the job."""
    if score is not None:
        return list(score.runs)
    return [row.run for row in queries.runs(ledger, job=job)] if job else []


def _find(ledger: Ledger, name: str) -> tuple[ScoreRow | None, str]:
    """The score to report on (if any) and its job."""
    scores = [row for row in queries.scores(ledger) if row.result is not None]
    jobs = [row.job for row in queries.jobs(ledger, kind=TUNE)]
    proposals = queries.proposals(ledger)
    if not name:
        if scores:
            return _primary(scores, scores[0]), scores[0].job or ""
        if jobs:
            return None, jobs[0]
        raise UsageError("there is nothing to report yet", mend="Run 'heldout tune' first")
    named = [row for row in scores if row.score.startswith(name)]
    if len(named) == 1:
        return named[0], named[0].job or ""
    found = sorted({job for job in jobs if job.startswith(name)})
    found += [row.job or "" for row in proposals if row.proposal.startswith(name)]
    if len(set(found)) == 1:
        mine = [row for row in scores if row.job == found[0]]
        return (_primary(mine, mine[0]) if mine else None), found[0]
    known = [*(row.score for row in scores[:5]), *jobs[:5]]
    raise UsageError(
        f"'{name}' names no score, job or proposal, or more than one",
        mend=f"Known here: {', '.join(known) or 'none'}",
    )


def _primary(scores: Sequence[ScoreRow], newest: ScoreRow) -> ScoreRow:
    """Among scores of the same two brains in the same job: the first one's model comes first.

    A job scores the model it was tuned for before any other, so that one is the subject and the
    others show what carries over.
    """
    same = [
        row
        for row in scores
        if (row.job, row.before_hash, row.after_hash)
        == (newest.job, newest.before_hash, newest.after_hash)
    ]
    if not newest.job:
        return newest
    model = min(same, key=lambda row: row.started).model
    return max((row for row in same if row.model == model), key=lambda row: row.started)


def _others(ledger: Ledger, score: Score | None) -> tuple[Score, ...]:
    if score is None:
        return ()
    seen: dict[str, Score] = {}
    for row in queries.scores(ledger):
        same = (row.before_hash, row.after_hash) == (score.before_hash, score.after_hash)
        if row.result is None or not same or row.model in {score.model, *seen}:
            continue
        seen[row.model] = read_score(row.result, where=f"score {row.score}")
    return tuple(seen[model] for model in sorted(seen))


def _unfinished(ledger: Ledger, job: str) -> tuple[str, ...]:
    return tuple(
        row.score
        for row in queries.scores(ledger)
        if row.outcome is None and job and row.job == job
    )


def _proposal(ledger: Ledger, job: str, score: Score | None) -> ProposalRow | None:
    rows = queries.proposals(ledger, job=job) if job else []
    if score is not None:
        matching = [
            row
            for row in rows or queries.proposals(ledger)
            if row.before_hash == score.before_hash and row.after_hash == score.after_hash
        ]
        return matching[0] if matching else (rows[0] if rows else None)
    return rows[0] if rows else None


def _proposal_view(row: ProposalRow | None, evidence: Mapping[str, Any]) -> ProposalView | None:
    if row is None:
        return None
    size = evidence.get("size") or {}
    return ProposalView(
        id=row.proposal,
        diff=row.diff,
        diff_hash=row.diff_hash,
        edits=len(row.edits or ()),
        decision=row.decision,
        lines_before=size.get("lines_before"),
        lines_after=size.get("lines_after"),
    )


def _title(score: Score | None, tuning: Tuning | None) -> str:
    if score is not None:
        return f"What the tuned brain is worth to {score.model}"
    return f"A tuning job for {tuning.model}" if tuning else "A tuning job"


def _unscored(model: str) -> str:
    if model and ModelName.parse(model).is_simulated:
        return (
            f"Mechanism test, not scored: {model} is a simulated model, a program, and the "
            "held-out half was not opened."
        )
    return "Not scored: the held-out half was not opened, so nothing here is evidence of a gain."


def _open_verdict(tuning: Tuning | None, proposal: ProposalRow | None) -> str:
    if proposal is None:
        why = f": {tuning.reason}" if tuning and tuning.reason else ""
        return f"The job made no proposal{why}."
    if proposal.decision is None:
        return f"Proposal {proposal.proposal} waits for a decision ('heldout review')."
    return (
        f"Proposal {proposal.proposal} was decided ({proposal.decision.action}) and its effect on "
        "the held-out half is not known yet ('heldout score')."
    )


def _review(proposal: ProposalRow | None) -> str:
    """Who let the change through; a policy is always named as one."""
    if proposal is None:
        return ""
    decision = proposal.decision
    if decision is None:
        return "Nobody has decided about this change yet."
    done = {"accept": "Accepted", "reject": "Rejected"}.get(decision.action, decision.action)
    who = decision.name or "somebody unnamed"
    if who == AUTO:
        return f"{done} by policy (auto), not by a person."
    return f"{done} by {who}. {decision.reason or ''}".rstrip()


def _majority(repeats: Sequence[bool]) -> bool:
    return 2 * sum(repeats) > len(repeats)


def _train_rows(evidence: Mapping[str, Any]) -> tuple[HalfRow, ...]:
    """Train on fresh repeats, as measured for the reviewer."""
    rows = []
    incidents = evidence.get("incidents") or []
    for kind, trap in (("traps", True), ("controls", False)):
        mine = [one for one in incidents if (one.get("kind") == "trap") == trap]
        if not mine:
            continue
        pairs = [
            (_majority(one["before"]), _majority(one["after"])) for one in mine if one["before"]
        ]
        fixed = sum(after and not before for before, after in pairs)
        broken = sum(before and not after for before, after in pairs)
        rows.append(
            HalfRow(
                half="train",
                kind=kind,
                incidents=len(mine),
                before=sum(before for before, _ in pairs),
                after=sum(after for _, after in pairs),
                fixed=fixed,
                broken=broken,
                p=None,
                note="tuned on, fresh repeats",
            )
        )
    return tuple(rows)


def _test_rows(score: Score | None) -> tuple[HalfRow, ...]:
    if score is None:
        return ()
    rows = []
    views = (
        ("traps", score.traps, "primary endpoint"),
        ("traps, first look", score.fresh, "never opened before"),
        ("controls", score.controls, "must not be harmed"),
    )
    for kind, comparison, note in views:
        if comparison is None:
            continue
        fixed, broken = comparison.count("fixed"), comparison.count("broken")
        rows.append(
            HalfRow(
                half="held out",
                kind=kind,
                incidents=len(comparison.pairs),
                before=comparison.before.solved_count,
                after=comparison.after.solved_count,
                fixed=fixed,
                broken=broken,
                p=mcnemar_exact(fixed, broken),
                note=note,
            )
        )
    return tuple(rows)


def _hashes(
    ledger: Ledger, score: Score | None, proposal: ProposalRow | None
) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    if score is not None:
        found += [
            ("endpoint", score.endpoint_hash),
            ("brain before", score.before_hash),
            ("brain after", score.after_hash),
            ("score", score.score),
            *((f"run {n}", run) for n, run in enumerate(score.runs, 1)),
        ]
        found += [(f"{name}", str(value)) for name, value in sorted(score.endpoint["pins"].items())]
        found.append(("settings", str(score.endpoint["settings"])))
        for run in queries.runs(ledger, run=score.runs[0]) if score.runs else []:
            pins = run.manifest.get("pins", {})
            known = {name for name, _ in found}
            found += [(n, str(v)) for n, v in sorted(pins.items()) if n not in known]
    elif proposal is not None:
        found += [("brain before", proposal.before_hash), ("brain after", proposal.after_hash)]
    if proposal is not None:
        found.append(("diff", proposal.diff_hash))
        for gate in queries.gate_reports(ledger, job=proposal.job)[-1:] if proposal.job else []:
            found += [
                ("gate", str(gate.gate_version)),
                ("gate's inventory", str(gate.inventory_hash)),
                ("gate's vocabulary", str(gate.vocabulary_hash)),
                ("checkers", str(gate.checkers_hash)),
            ]
    return tuple(dict(found).items())
