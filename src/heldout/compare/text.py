"""A comparison as plain text for terminals and logs."""

from __future__ import annotations

from heldout.compare.pairs import Comparison, Side
from heldout.stats import Interval


def percent(interval: Interval | None) -> str:
    """A rate with its interval: ``64 % (50-76)``."""
    if interval is None:
        return "undefined"
    return f"{100 * interval.value:.0f} % ({100 * interval.low:.0f}-{100 * interval.high:.0f})"


def points(interval: Interval | None) -> str:
    """A difference with its interval: ``+28 points (+14 to +42)``."""
    if interval is None:
        return "undefined"
    return (
        f"{100 * interval.value:+.0f} points "
        f"({100 * interval.low:+.0f} to {100 * interval.high:+.0f})"
    )


def p_value(p: float) -> str:
    """p with two significant digits; never printed as zero."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def share(value: float | None, count: int) -> str:
    """A share of a count, undefined when there was nothing to count."""
    return "undefined" if value is None else f"{100 * value:.0f} % of {count}"


def change(old: float | None, new: float | None) -> str:
    """Relative change, unknown when either side is."""
    if old is None or new is None:
        return "unknown"
    if old == 0:
        return "0 %" if new == 0 else "from zero"
    moved = round(100 * (new / old - 1))
    return f"{moved:+d} %" if moved else "0 %"


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"


def _rows(before: Side, after: Side) -> list[tuple[str, ...]]:
    a, b = before.cost, after.cost
    x, y = before.behaviour, after.behaviour
    invalid = [
        ", ".join(f"{n} {reason}" for reason, n in side.invalid.items()) or "none"
        for side in (before, after)
    ]
    return [
        ("incidents solved", percent(before.solved), percent(after.solved), ""),
        ("runs passed", percent(before.runs), percent(after.runs), ""),
        ("coverage", f"{before.coverage:.0%}", f"{after.coverage:.0%}", ""),
        ("invalid", *invalid, ""),
        ("USD per run", _usd(a.usd), _usd(b.usd), change(a.usd, b.usd)),
        ("tokens per run", f"{a.tokens:.0f}", f"{b.tokens:.0f}", change(a.tokens, b.tokens)),
        ("seconds per run", f"{a.seconds:.2f}", f"{b.seconds:.2f}", change(a.seconds, b.seconds)),
        ("tool calls per run", f"{a.steps:.1f}", f"{b.steps:.1f}", change(a.steps, b.steps)),
        (
            "change searches before the day",
            share(x.early_searches, x.change_searches),
            share(y.early_searches, y.change_searches),
            "",
        ),
        ("redundant calls", share(x.redundant, x.tool_calls), share(y.redundant, y.tool_calls), ""),
        (
            "evidence ids that were shown",
            share(x.evidence_shown, x.evidence_cited),
            share(y.evidence_shown, y.evidence_cited),
            "",
        ),
        (
            "named entities that exist",
            share(x.entities_exist, x.entities_named),
            share(y.entities_exist, y.entities_named),
            "",
        ),
    ]


def table(rows: list[tuple[str, ...]]) -> str:
    """Left-aligned columns two blanks apart."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def render_comparison(comparison: Comparison) -> str:
    """Everything a person needs to judge the comparison, incident names included."""
    head = ("", comparison.before.name, comparison.after.name, "change")
    lines = [
        table([head, *_rows(comparison.before, comparison.after)]),
        "",
        f"paired incidents {comparison.paired} of {len(comparison.pairs)}: "
        + ", ".join(
            f"{comparison.count(cell)} {cell}" for cell in ("fixed", "broken", "both", "neither")
        ),
        f"exact McNemar {p_value(comparison.p)}; worst case with everything missing against the "
        f"change {p_value(comparison.worst.p)}",
        f"solved incidents {points(comparison.difference)}; "
        f"runs {points(comparison.run_difference)}, interval clustered by incident",
    ]
    for cell in ("fixed", "broken", "unpaired"):
        names = comparison.named(cell)
        if names:
            lines.append(f"{cell}: {', '.join(names)}")
    if not comparison.same_model:
        served = sorted({*comparison.before.served_models, *comparison.after.served_models})
        lines.append(f"served models differ: {', '.join(served)}")
    lines.append(f"outcome: {comparison.outcome()}")
    return "\n".join(lines)
