"""From a cluster to candidates that the gate lets through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heldout.brain import Brain
from heldout.edit import Edit, edit_from_plain
from heldout.errors import EditError, GateError
from heldout.gate.pages import RATIONALE
from heldout.gate.report import Finding, GateReport
from heldout.gate.reviewer import Reviewed
from heldout.gate.rules import advice
from heldout.propose import (
    Cluster,
    Request,
    apply_draft,
    placed,
    readable_files,
    remembered,
    strategy,
)
from heldout.signatures import revise
from heldout.tune.context import Context, HeldoutLeak, State
from heldout.tune.log import Entry
from heldout.tune.player import in_thread


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit that the gate let through, and the brain with it."""

    edit: Edit
    brain: Brain
    review: Mapping[str, Any] = field(default_factory=dict)
    """What a reviewer's model said of it; empty if none was asked."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a draft may not pass: what to tell its author, and which of its words are marked."""

    kind: str
    why: str
    findings: tuple[Mapping[str, Any], ...]
    marked: tuple[str, ...] = ()
    rationale_only: bool = False


async def draft(job: Context, state: State, cluster: Cluster, place: str = "") -> list[Candidate]:
    """Ask for candidates that answer a cluster, and keep those that pass the gate.

    ``place`` tells the drafts from others of the same round.
    """
    options = job.options
    files = readable_files(state.brain, job.target_file, job.model, job.interface)
    limit = min(options.max_edit_lines, state.lines_left(options))
    request = Request(
        brain=state.brain,
        target_file=job.target_file,
        files=files,
        cluster=cluster,
        memory=tuple(state.memory),
        candidates=options.candidates,
        max_lines=limit,
        seed=options.derived_seed("propose", state.round, *filter(None, [place]), cluster.key),
    )

    async def ask() -> dict[str, Any]:
        answer = await strategy(options.strategy).candidates(job.client, request)
        job.player.budget.add(answer.spent.usd, answer.spent.tokens)
        return {
            "cluster": cluster.key,
            "incidents": list(cluster.incidents),
            "strategy": options.strategy,
            "edits": [edit.plain() for edit in answer.value or ()],
            "failure": answer.failure,
            "spent": asdict(answer.spent),
        }

    entry = Entry(f"round/{state.round}/{place}drafts", "asked", round=state.round)
    detail = await job.log.once(entry, ask)
    if detail["failure"]:
        job.tell("draft", f"no candidates for {cluster.key}: {detail['failure']}")
    candidates: list[Candidate] = []
    for number, plain in enumerate(detail["edits"]):
        found = await admit(job, state, edit_from_plain(plain), f"{place}{number}", limit)
        if found is not None and found.brain.hash not in {one.brain.hash for one in candidates}:
            candidates.append(found)
    return candidates


async def admit(
    job: Context, state: State, edit: Edit, number: int | str, limit: int
) -> Candidate | None:
    """Check a draft, let its author mend it, at most ``gate_tries`` checks in all.

    ``number`` tells it from the round's other drafts.
    """
    tries = job.options.gate_tries
    for attempt in range(tries):
        edit = placed(state.brain, edit, job.target_file)
        stem = f"round/{state.round}/{number}/{attempt}"
        job.log.record(
            Entry(f"{stem}/drafted", "drafted", edit.id, state.round), {"edit": edit.plain()}
        )
        if _repeated(job, state, edit, state.known(edit.id), stem):
            return None
        try:
            after = apply_draft(
                state.brain,
                edit,
                model=job.model,
                target=job.options.target,
                max_lines=limit,
            )
            if _repeated(job, state, edit, state.known(edit.id, after.hash), stem):
                return None
            detail = await _gate(job, state, edit, after, stem)
            refusal = None if detail["passed"] else _from_findings(detail)
        except EditError as error:
            after, detail, refusal = state.brain, {}, _form(edit, error)
        if refusal is None:
            job.tell("gate", f"edit {edit.id} passed the gate")
            return Candidate(edit, after, detail.get("review", {}))
        _refused(job, state, edit, refusal, stem)
        if attempt + 1 == tries:
            break
        mended = await _mend(job, state, edit, refusal, stem)
        if mended is None or mended == edit:
            break
        edit = mended
    return None


def _repeated(job: Context, state: State, edit: Edit, why: str, stem: str) -> bool:
    """Write down that a draft was known, where there is a reason why not to try it."""
    if why:
        entry = Entry(f"{stem}/repeated", "rejected", edit.id, state.round)
        job.log.record(entry, {"by": "repeat", "reason": why, "cluster": edit.cluster})
        job.tell("rejected", f"edit {edit.id} not tried: {why}")
    return bool(why)


def _form(edit: Edit, error: EditError) -> _Refusal:
    finding = {"rule": "form", "line": "", "how": error.sentence()}
    return _Refusal("form", error.sentence(), (finding,))


def _refused(job: Context, state: State, edit: Edit, refusal: _Refusal, stem: str) -> None:
    state.refuse(refusal.kind, remembered(edit, refusal.why, refusal.marked))
    job.log.record(
        Entry(f"{stem}/rejected", "rejected", edit.id, state.round),
        {"by": refusal.kind, "reason": refusal.why, "cluster": edit.cluster},
    )
    job.tell("rejected", f"edit {edit.id} refused ({refusal.kind}): {refusal.why}")


async def _gate(job: Context, state: State, edit: Edit, after: Brain, stem: str) -> dict[str, Any]:
    """Run the gate over the whole brain that would result, all accepted edits included."""
    key = f"{stem}/gate"
    detail = job.log.known(key)
    if detail is None:
        entry = Entry(key, "gated", edit.id, state.round)
        try:
            report: GateReport = await in_thread(
                job.gate.check,
                job.base,
                after,
                rationale=edit.rationale,
                job_texts=tuple(state.reasonings),
            )
        except GateError as error:
            said = {"passed": False, "failure": error.sentence(), "findings": [], "leak": False}
            detail = job.log.record(entry, said)
        else:
            reviewed = await _reviewed(job, state, report, after, stem)
            row = _report_row(job, edit, after, reviewed.report)
            said = {
                "passed": reviewed.report.passed,
                "failure": reviewed.failure,
                "findings": [_told(finding, after) for finding in reviewed.report.rejects],
                "leak": report.test_side_only,
                "review": reviewed.plain(job.reviewer.model) if job.reviewer else {},
                "spent": asdict(reviewed.spent),
            }
            detail = job.log.record(entry, said, beside={"gate_reports": [row]})
        await job.player.ledger.aflush()
    if detail["leak"]:
        raise HeldoutLeak(f"edit {edit.id} holds material of the held-out half")
    return detail


async def _reviewed(
    job: Context, state: State, report: GateReport, after: Brain, stem: str
) -> Reviewed:
    """The report after a reviewer's model, where the job has one, looked at the edit's lines."""
    if job.reviewer is None:
        return Reviewed(report)
    seed = job.options.derived_seed("review", stem)
    reviewed = await job.reviewer.review(report, state.brain, after, seed=seed)
    job.player.budget.add(reviewed.spent.usd, reviewed.spent.tokens)
    return reviewed


def _from_findings(detail: Mapping[str, Any]) -> _Refusal:
    if detail["failure"]:
        return _Refusal("gate", detail["failure"], ())
    findings = detail["findings"]
    rules = sorted({str(one["rule"]) for one in findings})
    told = tuple({name: one[name] for name in ("rule", "line", "how")} for one in findings)
    marked = tuple(str(one["matched"]) for one in findings)
    rationale_only = bool(findings) and all(one["file"] == RATIONALE for one in findings)
    why = f"the checker refused it: {', '.join(rules)}"
    return _Refusal("gate", why, told, marked, rationale_only)


def _plainly(edit: Edit) -> Edit:
    """The edit without its author's explanations."""
    reason = f"Answers the failures of the cluster {edit.cluster}."
    return replace(edit, reason=reason, expected_effect="", feared_harm="")


def _told(finding: Finding, after: Brain) -> dict[str, Any]:
    """A finding as its author may see it: the rule, the author's own line, how to mend it."""
    lines = after.all_files().get(finding.file, "").splitlines()
    own = lines[finding.line - 1] if 0 < finding.line <= len(lines) else finding.matched
    return {
        "rule": finding.rule,
        "line": own,
        "how": advice(finding.rule, finding.hint),
        "matched": finding.matched,
        "file": finding.file,
    }


def _report_row(job: Context, edit: Edit, after: Brain, report: GateReport) -> dict[str, Any]:
    return {
        "job": job.options.job,
        "edit": edit.id,
        "before_hash": job.base.hash,
        "after_hash": after.hash,
        "passed": report.passed,
        "preexisting": report.preexisting,
        "test_side_only": report.test_side_only,
        "report_json": report.plain(),
        "gate_version": report.gate_version,
        "inventory_hash": report.inventory_hash,
        "vocabulary_hash": report.vocabulary_hash,
        "checkers_hash": report.checkers_hash,
        "exceptions": report.exceptions,
        "excused": report.excused,
        "seconds": float(report.seconds),
    }


async def _mend(
    job: Context, state: State, edit: Edit, refusal: _Refusal, stem: str
) -> Edit | None:
    """The draft as its author rewrites it, ``None`` where there is nothing to go on."""
    if not refusal.findings:
        return None
    if refusal.rationale_only:
        return _plainly(edit)

    async def ask() -> dict[str, Any]:
        answer = await revise(
            job.client,
            edit,
            _unique(refusal.findings),
            seed=job.options.derived_seed("revise", stem),
        )
        job.player.budget.add(answer.spent.usd, answer.spent.tokens)
        return {
            "edit": answer.value.plain() if answer.value else None,
            "failure": answer.failure,
            "spent": asdict(answer.spent),
        }

    detail = await job.log.once(Entry(f"{stem}/revised", "revised", edit.id, state.round), ask)
    if detail["edit"] is None:
        return None
    mended = replace(
        edit_from_plain(detail["edit"]),
        cluster=edit.cluster,
        author=edit.author,
        expected_effect=edit.expected_effect,
        feared_harm=edit.feared_harm,
    )
    said = mended.rationale
    return _plainly(mended) if any(one and one in said for one in refusal.marked) else mended


def _unique(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list({(one["rule"], one["line"]): one for one in findings}.values())
