"""Usage as text: one line a measure, then what it was made of, then what is suggested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heldout.compare.text import table
from heldout.transcript import Page
from heldout.usage.measure import Finding, Row, percent
from heldout.usage.reading import Group, Usage

MOST_ROWS = 8
_PLACES = {
    "tools": "The tools",
    "graph": "What the graph holds",
    "brain": "How the agent goes about it",
}


def render_usage(usage: Usage, *, rows: int = MOST_ROWS, width: int = 100) -> str:
    """The whole page; at most ``rows`` rows of each measure."""
    page = Page(width)
    whole = usage.whole
    counts = ", ".join(f"{one.investigations} {one.name}" for one in usage.groups[1:])
    page.add(
        f"run {usage.run} · {usage.purpose} · {usage.model} · set {usage.set} · "
        f"{'held-out half' if usage.side == 'test' else 'train half'}"
    )
    page.add(
        f"{whole.investigations} investigations"
        + (f" ({counts})" if counts else "")
        + (f", {usage.invalid} invalid ones left out" if usage.invalid else "")
    )
    page.lines.append("")
    _overview(page, usage)
    for finding in whole.findings:
        _detail(page, finding, rows)
    _suggested(page, usage)
    return page.text()


def _overview(page: Page, usage: Usage) -> None:
    """A line a measure and a column a group, in as many tables as the page's width asks for.

    With several arms their verdicts have tables of their own. What was never counted stands in the
    first table alone.
    """
    arms = [one for one in usage.groups if one.arm and not one.verdict]
    split = 1 + len(arms) if arms else len(usage.groups)
    first = True
    groups, rest = list(usage.groups[:split]), list(usage.groups[split:])
    while groups:
        taken = len(groups)
        while taken > 1 and _width(_table(usage, groups[:taken], first)) > page.width:
            taken -= 1
        page.lines += ([] if first else [""]) + _table(usage, groups[:taken], first)
        groups, rest = (groups[taken:], rest) if groups[taken:] else (rest, [])
        first = False


def _table(usage: Usage, groups: Sequence[Group], every: bool) -> list[str]:
    lines: list[tuple[str, ...]] = [("", *(one.name for one in groups))]
    for index, finding in enumerate(usage.whole.findings):
        if every or finding.count:
            lines.append((finding.title, *(value(one.findings[index]) for one in groups)))
    return table(lines).split("\n")


def _width(lines: Sequence[str]) -> int:
    return max(len(line) for line in lines)


def value(finding: Finding) -> str:
    """``12 % of 240``, a mean for tool calls, ``undefined`` with nothing to count."""
    if finding.share is None:
        return "undefined"
    if finding.key == "calls":
        return f"{finding.share:.1f}"
    return f"{percent(finding.share)} of {finding.of}"


def _detail(page: Page, finding: Finding, most: int) -> None:
    rows = [row for row in finding.rows if row.count or any(row.figures.values())][:most]
    if not rows or not (finding.count or finding.detail):
        return
    title = finding.detail or finding.title
    page.heading(f"{title[0].upper()}{title[1:]}")
    lines = [(row.name, _count(row), *_figures(finding, row)) for row in rows]
    page.lines += [f"  {line}" for line in table(_even(lines)).split("\n")]
    left = sum(bool(row.count) for row in finding.rows) - len(rows)
    if left > 0:
        page.add(f"({left} more; --rows shows them)", 2)


def _even(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    widest = max(len(line) for line in lines)
    return [(*line, *([""] * (widest - len(line)))) for line in lines]


def _count(row: Row) -> str:
    return f"{row.count}" if row.share is None else f"{row.count} of {row.of}"


def _figures(finding: Finding, row: Row) -> Iterator[str]:
    yield f"in {row.investigations}"
    if finding.key == "calls":
        each = max(1, row.count)
        size = sum(one.figures.get("bytes", 0.0) for one in finding.rows) or 1.0
        yield f"{row.figures.get('bytes', 0.0) / each:,.0f} bytes"
        yield f"~{row.figures.get('tokens', 0.0) / each:,.0f} tokens each"
        yield f"{percent(row.figures.get('bytes', 0.0) / size)} of all bytes"
        return
    for name, figure in sorted(row.figures.items()):
        if figure:
            yield f"{figure:.0f} {name.replace('_', ' ')}"


def _suggested(page: Page, usage: Usage) -> None:
    page.heading("What the graph, the tools or the brain should gain")
    if not usage.suggestions:
        page.add("Nothing stands out.", 2)
    for place, title in _PLACES.items():
        found = [one for one in usage.suggestions if one.place == place]
        if found:
            page.add(title, 2)
        for one in found:
            page.add(f"- {one.text}", 4)
