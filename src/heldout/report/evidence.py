"""The table for a sceptic: what the change is worth beside everything that should not be worth it.

Everything in it comes from the ledger: the score's own rows, and a score of the same brains on
incidents from outside where there is one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from heldout.compare.text import p_value, table
from heldout.report import rows
from heldout.report.data import ArmLine, EvidenceTable
from heldout.score import ArmRow, Score, read_score
from heldout.score.request import ALPHA
from heldout.store import Ledger, queries
from heldout.terminal import visible

DASH = "-"
LABELS = {"before": "before", "noop": "no-op", "format": "format-only", "after": "tuned"}
_WIDTH = 96
_WHAT = {
    "before": "the brain as it was",
    "after": "the change: the primary comparison, against before",
}


def evidence_table(ledger: Ledger, score: Score | None) -> EvidenceTable | None:
    """The table of one score; ``None`` without one."""
    if score is None:
        return None
    outside = _outside(ledger, score)
    elsewhere = {row.arm: row for row in arm_rows_of(outside)} if outside is not None else {}
    further: Mapping[str, Any] = score.endpoint.get("further", {})
    lines = [_line(row, further.get(row.arm, {}), elsewhere) for row in arm_rows_of(score)]
    return EvidenceTable(
        lines=tuple(lines),
        left_out={_label(arm): str(why) for arm, why in score.endpoint.get("left_out", {}).items()},
        notes=tuple(_notes(score, outside, lines)),
        margin=rows.percent(score.harm.margin),
    )


def arm_rows_of(score: Score) -> tuple[ArmRow, ...]:
    """A score's rows; of one from before there were any, what its comparisons say."""
    if score.table:
        return score.table
    found = []
    for arm in ("before", *sorted(score.arms), "after"):
        traps = score.traps if arm in ("before", "after") else score.arms[arm]
        side = score.sides[arm]
        solved = traps.before if arm == "before" else traps.after
        compared = arm != "before"
        found.append(
            ArmRow(
                arm, solved.solved_count, len(traps.pairs), None, side.valid, side.planned,
                sum(side.invalid.values()), side.absent, side.cost.total_tokens,
                side.cost.total_usd,
                fixed=traps.count("fixed") if compared else None,
                broken=traps.count("broken") if compared else None,
                p=traps.p if compared else None,
                p_adjusted=min(1.0, traps.p * score.looks.number) if compared else None,
                harm=score.harm if arm == "after" else None,
            )
        )  # fmt: skip
    return tuple(found)


def _outside(ledger: Ledger, score: Score) -> Score | None:
    """The newest score of the same brains and model on incidents from outside."""
    for row in queries.scores(ledger):
        same = (row.before_hash, row.after_hash, row.model) == (
            score.before_hash, score.after_hash, score.model,
        )  # fmt: skip
        if row.result is None or not same or row.score == score.score or row.set == score.set:
            continue
        other = read_score(row.result, where=f"score {row.score}")
        if other.evidence.outside:
            return other
    return None


def _label(arm: str) -> str:
    return LABELS.get(arm, arm)


def _line(row: ArmRow, said: Mapping[str, Any], elsewhere: Mapping[str, ArmRow]) -> ArmLine:
    other, harm = elsewhere.get(row.arm), row.harm
    shown = harm is not None and harm.paired > 0
    missing = row.invalid + row.absent
    facts = bool(said.get("facts"))
    return ArmLine(
        name=visible(_label(row.arm), 24) + ("†" if facts else ""),
        what=_what(row.arm, said),
        solved=f"{row.solved} of {row.incidents}",
        unseen=DASH if row.unseen is None else f"{row.unseen[0]} of {row.unseen[1]}",
        outside=DASH if other is None else f"{other.solved} of {other.incidents}",
        fixed=DASH if row.fixed is None else str(row.fixed),
        broken=DASH if row.broken is None else str(row.broken),
        p=_p(row.p),
        adjusted=_p(row.p_adjusted),
        ahead=_ahead(row),
        harmed=f"{harm.broken} of {harm.paired}" if shown and harm is not None else DASH,
        bound=rows.percent(harm.upper) if shown and harm is not None else DASH,
        harm=harm.verdict if shown and harm is not None else "",
        invalid=f"{missing} of {row.planned}",
        tokens=rows.tokens(row.tokens),
        usd=rows.usd(row.usd),
        main=row.arm == "after",
        facts=facts,
    )


def _ahead(row: ArmRow) -> str:
    if row.rivalry is None:
        return DASH
    return f"+{row.rivalry.ahead} -{row.rivalry.behind} ({_p(row.rivalry.p)})"


def _what(arm: str, said: Mapping[str, Any]) -> str:
    text = str(said.get("what") or _WHAT.get(arm) or rows.ARM_NOTES.get(arm) or "a further brain")
    remark = str(said.get("remark") or "")
    return visible(f"{text} ({remark})" if remark else text, 400)


def _p(value: float | None) -> str:
    """As short as a table's cell needs it: ``0.016``, ``<0.0001``."""
    return (
        DASH if value is None else p_value(value).removeprefix("p ").lstrip("= ").replace(" ", "")
    )


def _notes(score: Score, outside: Score | None, lines: list[ArmLine]) -> list[str]:
    """The footer: what was fixed beforehand, and how far each figure may be trusted."""
    looks, rivals = score.looks, sum(1 for line in lines if not line.main) - 1
    repeats = "1 repeat" if score.repeats == 1 else f"{score.repeats} repeats"
    notes = [
        f"{score.evidence.sentence()}",
        f"Endpoint {score.endpoint_hash}, fixed before the first call; look {looks.number} of "
        f"{looks.budget}; {repeats} for each incident; score {score.score}.",
        "Primary is tuned against before, by exact McNemar; p adj. is p times the looks.",
    ]
    notes += _lead(score)
    if rivals > 0:
        chance = 100 * (1 - 0.95**rivals)
        notes.append(
            f"The other {rivals} row(s) are exploratory and not adjusted for being {rivals}: with "
            f"no effect anywhere up to {chance:.0f} % of such tables hold one below 0.05; below "
            f"{0.05 / rivals:.2g} a row stands for itself."
        )
    if any(line.unseen != DASH for line in lines):
        notes.append("Unseen: traps of a family, or with a trap, that the train half has none of.")
    notes.append(
        f"Outside: this set itself; {score.evidence.outside} incidents recorded elsewhere."
        if score.evidence.outside
        else "Outside: no set from outside was scored for these brains and this model."
        if outside is None
        else f"Outside: set {visible(outside.set, 60)}, score {outside.score}, look "
        f"{outside.looks.number}; {outside.evidence.outside} incidents recorded elsewhere."
    )
    notes.append(
        "Controls: how many broke, and the one-sided 95 % bound of the share that does; above the "
        f"margin of {rows.percent(score.harm.margin)} it is not shown that none are harmed."
    )
    if any(line.facts for line in lines):
        notes.append("†: carries facts of incidents, so nothing of it could be released.")
    return notes


def _lead(score: Score) -> list[str]:
    """Over which arms the change has no lead that chance would not explain, in one sentence."""
    held = [(_label(row.arm), row.rivalry) for row in arm_rows_of(score)]
    found = [(name, rivalry) for name, rivalry in held if rivalry is not None]
    level = [name for name, one in found if one.p >= ALPHA or one.ahead <= one.behind]
    if not found:
        return []
    if not level:
        return [f"Tuned leads every other arm, each at p < {ALPHA} and not adjusted."]
    names = visible(", ".join(level), 300)
    return [f"No lead of tuned is shown over: {names}. It may be worth no more than that."]


def evidence_text(found: EvidenceTable) -> str:
    """The table for a terminal, in two parts, with its footer."""
    worth: list[tuple[str, ...]] = [
        ("arm", "solved", "unseen", "outside", "fixed", "broken", "p", "p adj.", "tuned vs it (p)")
    ]
    worth += [
        (one.name, one.solved, one.unseen, one.outside, one.fixed, one.broken, one.p,
         one.adjusted, one.ahead)
        for one in found.lines
    ]  # fmt: skip
    price: list[tuple[str, ...]] = [
        ("arm", "controls broken", "bound", f"margin {found.margin}", "invalid", "tokens", "USD")
    ]
    price += [
        (one.name, one.harmed, one.bound, one.harm, one.invalid, one.tokens, one.usd)
        for one in found.lines
    ]
    said = [f"{one.name}: {one.what}" for one in found.lines]
    said += [f"{name}: not played, {visible(why, 300)}" for name, why in found.left_out.items()]
    wrapped = [textwrap.fill(line, _WIDTH, subsequent_indent="  ") for line in said]
    footer = [textwrap.fill(visible(note, 600), _WIDTH) for note in found.notes]
    return "\n".join(
        ["evidence, on held-out traps", table(worth), "", table(price), "", *wrapped, "", *footer]
    )
