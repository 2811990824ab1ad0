"""The report for a terminal: the same statements, without pictures."""

from __future__ import annotations

import textwrap

from heldout.compare.text import p_value, percent, points, table
from heldout.report import rows, suites
from heldout.report.data import EditView, ReportData, Tuning
from heldout.report.evidence import evidence_text
from heldout.report.over_time.text import parts
from heldout.score import Score
from heldout.terminal import visible
from heldout.transfer import render_table

_WIDTH = 96


def render_text(data: ReportData, *, diff: bool = False) -> str:
    """The report as plain text; with ``diff`` the whole change at the end.

    The first line is the class of evidence. Nothing in it can move a cursor or disguise itself.
    """
    blocks = [_wrap(data.evidence), "", _wrap(data.verdict)]
    if data.review:
        blocks.append(_wrap(f"Review: {data.review}"))
    blocks += [_wrap(note) for note in data.judges]
    if data.halves:
        blocks += ["", _halves(data)]
    if data.score is not None:
        blocks += ["", evidence_text(data.arms)] if data.arms is not None else []
        blocks += ["", _sureness(data.score), "", _beside(data.score), "", _worked(data.score)]
    if data.score is not None and data.score.faults:
        told = table([suites.head(data.score), *suites.lines(data.score)])
        blocks += ["", _wrap(suites.TITLE), _wrap(suites.NOTE), told]
    if data.others and data.score is not None:
        blocks += ["", _others(data.score, data.others)]
    if data.transfer is not None:
        blocks += ["", "what carries over from model to model", render_table(data.transfer)]
    if data.tuning is not None:
        blocks += ["", _tuning(data.tuning)]
    if data.over_time is not None:
        blocks += [line for part in parts(data.over_time) for line in ("", part)]
    if data.fidelity:
        blocks += ["", "production against the simulation"]
        blocks += [_wrap(f"- {note}") for note in data.fidelity]
    if data.wishes:
        blocks += ["", "what the graph or the tools should gain, from usage on train"]
        blocks += [_wrap(f"- {wish}") for wish in data.wishes]
    if diff and data.proposal is not None:
        blocks += ["", visible(data.proposal.diff, 300, lines=True)]
    blocks += [
        "",
        *(f"{visible(name, 60)}: {visible(value, 80)}" for name, value in data.hashes[:3]),
    ]
    return "\n".join(blocks)


def _wrap(text: str) -> str:
    return textwrap.fill(visible(text, 900), _WIDTH)


def _halves(data: ReportData) -> str:
    lines: list[tuple[str, ...]] = [
        ("half", "incidents", "number", "before", "after", "fixed", "broken", "McNemar", "")
    ]
    for row in data.halves:
        counts = (row.incidents, row.before, row.after, row.fixed, row.broken)
        p = p_value(row.p) if row.p is not None else ""
        lines.append((row.half, row.kind, *map(str, counts), p, row.note))
    return table(lines)


def _sureness(score: Score) -> str:
    traps, looks = score.traps, score.looks
    lines = [
        f"held-out traps: before {percent(traps.before.solved)}, after "
        f"{percent(traps.after.solved)}, difference {points(traps.difference)} (Tango)",
        f"runs: difference {points(traps.run_difference)}, clustered by incident",
        f"exact McNemar {p_value(traps.p)}; adjusted for look {looks.number} of {looks.budget}: "
        f"{p_value(score.p_adjusted)}; worst case: {p_value(traps.worst.p)}",
        score.harm.sentence(),
        f"what this set can show: {score.detectable.sentence()}",
    ]
    if score.clearance is not None:
        lines.append(score.clearance.sentence())
    if score.fresh is not None:
        lines.append(
            f"incidents never opened before: {score.fresh.count('fixed')} fixed, "
            f"{score.fresh.count('broken')} broken of {score.fresh.paired}, "
            f"{p_value(score.fresh.p)}"
        )
    for arm in rows.ordered_arms(score):
        side = score.sides[arm]
        if side.coverage < 1:
            why = rows.reasons(side.invalid) or "never started"
            lines.append(f"coverage of {arm} {side.coverage:.0%}: {why}")
    for cell in ("fixed", "broken", "unpaired"):
        names = traps.named(cell)
        if names:
            lines.append(f"{cell}: {', '.join(names)}")
    return "\n".join(textwrap.fill(visible(line, 900), _WIDTH) for line in lines)


def _beside(score: Score) -> str:
    lines: list[tuple[str, ...]] = [("rules without a model, on the same traps", "solved")]
    lines += [(one.name, f"{one.traps_solved} of {one.traps}") for one in score.floors]
    return table(lines) if score.floors else "no rule without a model was played"


def _worked(score: Score) -> str:
    head = ("how the agent worked, on traps", "before", "after", "change")
    return table([head, *rows.worked_rows(score)])


def _others(score: Score, others: tuple[Score, ...]) -> str:
    lines: list[tuple[str, ...]] = [
        ("the same brain, another model", "ends as", "before", "after", "fixed", "broken", "")
    ]
    for one in (score, *others):
        traps = one.traps
        counts = (
            traps.before.solved_count,
            traps.after.solved_count,
            traps.count("fixed"),
            traps.count("broken"),
        )
        lines.append((visible(one.model, 60), one.outcome, *map(str, counts), p_value(traps.p)))
    return table(lines)


def _tuning(tuning: Tuning) -> str:
    course = " -> ".join(f"{point.solved}/{point.total}" for point in tuning.course)
    lines = [
        _wrap(
            f"job {tuning.job} ended as '{rows.plain_words(tuning.status)}': {tuning.reason}. "
            f"{tuning.rounds} rounds, {len(tuning.accepted)} edits accepted; train solved "
            f"{course or 'not measured'}"
        )
    ]
    if tuning.strategy:
        lines.append(f"strategy: {visible(tuning.strategy)}")
    lines += [_edit(edit) for edit in tuning.accepted]
    if tuning.rejected_by:
        lines.append(f"rejected: {visible(rows.refusals(tuning.rejected_by))}")
    spent = [
        (
            stage.name,
            str(stage.investigations or ""),
            rows.thousands(stage.tokens),
            rows.usd(stage.usd),
            rows.duration(stage.seconds) if stage.seconds else "",
        )
        for stage in tuning.stages
    ]
    if spent:
        lines += ["", table([("stage", "runs", "tokens", "USD", "seconds, summed"), *spent])]
    return "\n".join(lines)


def _edit(edit: EditView) -> str:
    cluster = visible(rows.plain_words(edit.cluster), 60)
    head = f"+ round {edit.round}, {cluster}: {visible(edit.reason, 200)}"
    added = [f"    {visible(line, 200)}" for op in edit.ops for line in op.added]
    return "\n".join([textwrap.fill(head, _WIDTH, subsequent_indent="  "), *added])
