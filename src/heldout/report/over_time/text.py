"""The course of a model as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from heldout.compare.text import p_value, percent, table
from heldout.drift import Canary, canary_note, canary_rows
from heldout.report import rows
from heldout.report.over_time import BrainChange, Look, OverTime, Segments, Spent
from heldout.report.over_time.segments import FEW, Segment
from heldout.terminal import visible

_WIDTH = 96
MOST_LOOKS = 12
MOST_LINES = 40


def segments_text(segments: Segments) -> str:
    """The groups of one score as a table, warnings at the end of their lines."""
    lines: list[tuple[str, ...]] = [
        ("held-out traps by", "", "before", "after", "fixed", "broken", "difference, 95 %")
    ]
    lines += [
        (
            one.kind,
            visible(rows.plain_words(one.name), 40) + not_tuned(one),
            f"{one.before} of {one.paired}",
            f"{one.after} of {one.paired}",
            str(one.fixed or ""),
            str(one.broken or ""),
            difference(one),
        )
        for one in segments.rows
    ]
    return "\n".join([table(lines), *(_wrap(note) for note in segments.notes)])


def not_tuned(segment: Segment) -> str:
    """Says that a group has nothing of it in train; empty where it has, or nobody asked."""
    return " (not in train)" if segment.seen_in_train is False else ""


def difference(segment: Segment) -> str:
    """The difference with its interval, or why there is no figure; never a bare percentage."""
    interval = segment.difference
    if segment.few or interval is None:
        return segment.warning
    return (
        f"{100 * interval.value:+.0f} points ({100 * interval.low:+.0f} to "
        f"{100 * interval.high:+.0f})"
    )


def looks_text(looks: tuple[Look, ...]) -> str:
    """One line a look, oldest first."""
    head = (
        "look", "day", "before", "after", "fixed/broken", "p", "adjusted", "no model", "ends as",
        "USD",
    )  # fmt: skip
    lines: list[tuple[str, ...]] = [head, *(_look(one) for one in looks[-MOST_LOOKS:])]
    notes = look_notes(looks)
    return "\n".join([table(lines), *(_wrap(note) for note in notes)])


def _look(look: Look) -> tuple[str, ...]:
    day, usd = rows.moment(look.started)[:10], rows.usd(look.cost.total_usd)
    score = look.result
    if score is None:
        return ("", day, "", "", "", "", "", "", f"{look.word} ({look.id})", usd)
    traps = score.traps
    return (
        f"{score.looks.number} of {score.looks.budget}",
        day,
        f"{traps.before.solved_count}/{traps.before.incidents}, {percent(traps.before.solved)}",
        f"{traps.after.solved_count}/{traps.after.incidents}, {percent(traps.after.solved)}",
        f"{traps.count('fixed')}/{traps.count('broken')}",
        p_value(traps.p).removeprefix("p = "),
        p_value(score.p_adjusted).removeprefix("p = "),
        f"{look.floor.traps_solved}/{look.floor.traps}" if look.floor else "",
        look.word,
        usd,
    )


def look_notes(looks: tuple[Look, ...]) -> list[str]:
    """What must be said of the looks as a whole."""
    notes = []
    if len(looks) > MOST_LOOKS:
        notes.append(f"{len(looks) - MOST_LOOKS} earlier looks are in the ledger.")
    rules = {one.floor.name for one in looks if one.floor is not None}
    if rules:
        notes.append(f"No model: the best rule on the same traps ({', '.join(sorted(rules))}).")
    if any(one.result is not None and one.result.traps.paired < FEW for one in looks):
        notes.append(f"Fewer than {FEW} incidents in a look: read its counts, not its rates.")
    others = [one.id for one in looks if one.other_incidents]
    if others:
        notes.append(
            f"Other trap incidents than in the look before: {', '.join(others)}. Rates of "
            "different incidents do not compare."
        )
    open_ones = [one.id for one in looks if one.note.startswith("begun")]
    if open_ones:
        notes.append(
            f"Begun and not ended, and counted as looks: {', '.join(open_ones)} "
            "('heldout score --resume' goes on)."
        )
    if sum(one.result is not None for one in looks) > 1:
        notes.append(
            "Each look compares its own two brains, played anew. Looks are not added up: the same "
            "incidents are seen again, which the adjusted p pays for."
        )
    return notes


def brain_text(change: BrainChange) -> str:
    """The lines that came and went, by file, each with its edit."""
    lines = [brain_head(change)]
    shown = 0
    for one in change.files:
        left = one.lines[: MOST_LINES - shown]
        shown += len(left)
        if left:
            lines.append(visible(one.file, 90))
        origin = ""
        for line in left:
            said = visible(line.origin.words(), 90)
            if said != origin:
                lines.append(f"    {said}")
                origin = said
            mark = "+" if line.kind == "add" else "-"
            lines.append(f"{line.number:>5} {mark} {visible(line.text, 200)}")
    if len(change.lines) > shown:
        lines.append(f"{len(change.lines) - shown} more lines in the HTML report")
    return "\n".join(lines)


def brain_head(change: BrainChange) -> str:
    """How much changed since when, in one line."""
    since = f"the first one of this ledger ({change.base[:12]}, {rows.moment(change.base_at)[:10]})"
    if change.note:
        return f"The brain against {since}: {change.note}"
    if not change.lines:
        return f"The brain in use ({change.now[:12]}) says what {since} said."
    added, gone = change.count("add"), change.count("del")
    return f"The brain in use ({change.now[:12]}) against {since}: {added} lines new, {gone} gone."


def spent_text(spent: tuple[Spent, ...]) -> str:
    """The bill so far."""
    lines: list[tuple[str, ...]] = [
        ("what this model cost so far", "investigations", "calls", "tokens", "USD")
    ]
    lines += [
        (
            visible(one.name, 50),
            str(one.cost.investigations or ""),
            rows.thousands(one.cost.calls + one.cost.judge_calls),
            rows.thousands(one.cost.total_tokens),
            rows.usd(one.cost.total_usd),
        )
        for one in spent
    ]
    return table(lines)


def parts(data: OverTime) -> Iterator[str]:
    """Every part there is something to say in, a text each."""
    if data.segments is not None and data.segments.rows:
        yield segments_text(data.segments)
    if data.looks:
        yield f"looks at the held-out half by {visible(data.model, 60)}\n{looks_text(data.looks)}"
    if data.canaries:
        yield canaries_text(data.canaries)
    if data.brain is not None:
        yield brain_text(data.brain)
    if data.spent:
        yield spent_text(data.spent)


def canaries_text(canaries: tuple[Canary, ...]) -> str:
    """The canary's course, and what the newest run could have noticed."""
    found = [tuple(visible(cell, 90) for cell in row) for row in canary_rows(canaries[:MOST_LOOKS])]
    return "\n".join(["did the provider change the model?", table(found), canary_note(canaries[0])])


def _wrap(text: str) -> str:
    return textwrap.fill(visible(text, 900), _WIDTH)
