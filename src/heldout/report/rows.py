"""Figures as words, shared by the page and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from heldout.compare.text import change, share
from heldout.report.data import OpView
from heldout.score import Score
from heldout.score.arms import ARMS
from heldout.score.ranking import FIRST
from heldout.stats import Interval

ARM_NOTES = {name: arm.what for name, arm in ARMS.items()}
_KINDS = {
    "fault": "fault: ", "family": "family: ", "trap": "trap: ",
    "fault seen": "", "family seen": "", "trap seen": "",
}  # fmt: skip


def usd(value: float | None) -> str:
    """A price; unknown is said, never shown as zero."""
    if value is None:
        return "unknown"
    return f"{value:.2f}" if value >= 1 or value == 0 else f"{value:.4f}"


def moment(microseconds: int) -> str:
    """A time, UTC, to the minute."""
    return datetime.fromtimestamp(microseconds / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 90:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def thousands(value: int) -> str:
    """An integer with thin spaces between groups."""
    return f"{value:,}".replace(",", "\u202f")


def tokens(value: int) -> str:
    """Tokens to three digits: ``13.4 M``, ``212 k``."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            scaled = value / size
            return f"{scaled:.1f} {unit}" if scaled < 100 else f"{scaled:.0f} {unit}"
    return str(value)


def percent(value: float | None) -> str:
    """A share without decimals."""
    return "undefined" if value is None else f"{100 * value:.0f} %"


def reasons(counts: Mapping[str, int]) -> str:
    """Counted reasons in one line."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()) or ""


def exclusions(excluded: Mapping[str, str]) -> str:
    """What was left out and why."""
    return ", ".join(f"{name} ({why})" for name, why in sorted(excluded.items()))


def points_short(interval: Interval | None) -> str:
    """A difference without its interval."""
    if interval is None:
        return "undefined"
    moved = round(100 * interval.value)
    return f"{moved:+d} points" if moved else "0 points"


def plain_words(name: str) -> str:
    """An identifier of ours as words."""
    return name.replace("_", " ")


def refusals(counts: Mapping[str, int]) -> str:
    """How many edits fell where."""
    return ", ".join(f"{count} by {name}" for name, count in counts.items())


def kind(name: str) -> str:
    """The lead of one breakdown row."""
    return _KINDS.get(name, "")


def worked_rows(score: Score) -> list[tuple[str, str, str, str]]:
    """How the agent worked on the traps, before and after: behaviour, then cost."""
    before, after = score.traps.before, score.traps.after
    x, y, a, b = before.behaviour, after.behaviour, before.cost, after.cost
    rows = [
        ("change searches that reach before the day of the incident", x.early_searches,
         x.change_searches, y.early_searches, y.change_searches),
        ("calls that repeat an earlier one", x.redundant, x.tool_calls, y.redundant, y.tool_calls),
        ("cited evidence that was shown", x.evidence_shown, x.evidence_cited, y.evidence_shown,
         y.evidence_cited),
        ("named entities that exist", x.entities_exist, x.entities_named, y.entities_exist,
         y.entities_named),
        ("ended on a limit", x.limits, x.investigations, y.limits, y.investigations),
    ]  # fmt: skip
    result = [(name, share(o, m), share(w, n), "") for name, o, m, w, n in rows]
    result += ranked_rows(score)
    result += [
        ("tool calls per run", f"{a.steps:.1f}", f"{b.steps:.1f}", change(a.steps, b.steps)),
        ("tokens per run", thousands(round(a.tokens)), thousands(round(b.tokens)),
         change(a.tokens, b.tokens)),
        ("USD per run", usd(a.usd), usd(b.usd), change(a.usd, b.usd)),
        ("seconds per run", f"{a.seconds:.2f}", f"{b.seconds:.2f}", change(a.seconds, b.seconds)),
    ]  # fmt: skip
    return result


def ranked_rows(score: Score) -> list[tuple[str, str, str, str]]:
    """Where answers name further suspects: how often the right one is among the first k."""
    x, y = score.ranked.get("before"), score.ranked.get("after")
    if x is None or y is None or not x.listed + y.listed:
        return []
    return [
        (f"entity at fault among the first {k} named (AC@{k}, exploratory)",
         share(x.right[k], x.answers), share(y.right[k], y.answers), "")
        for k in FIRST
    ]  # fmt: skip


def ordered_arms(score: Score) -> list[str]:
    """Arms as people read them: before, after, then the rest by name."""
    first = [arm for arm in ("before", "after") if arm in score.sides]
    return first + sorted(arm for arm in score.sides if arm not in first)


def diff_lines(text: str) -> list[tuple[str, str]]:
    """A unified diff as (kind, line)."""
    return [(_kind_of(line), line) for line in text.splitlines()[:2000]]


def _kind_of(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "file"
    if line.startswith("@@"):
        return "hunk"
    return {"+": "add", "-": "del"}.get(line[:1], "same")


def op_lines(ops: Sequence[OpView]) -> list[tuple[str, str]]:
    """An edit's operations as (kind, line), with the anchor that they stand at."""
    lines: list[tuple[str, str]] = []
    for op in ops:
        lines.append(("file", f"{op.file} · {op.action.replace('_', ' ')}"))
        if op.anchor:
            gone = op.action in ("replace", "delete")
            lines.append(("del" if gone else "same", f"{'-' if gone else ' '} {op.anchor}"))
        lines += [("add", f"+ {line}") for line in op.added]
    return lines
