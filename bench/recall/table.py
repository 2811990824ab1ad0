"""The measured rows as a page: Markdown, between two marks of docs/how-to/leaks.md."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import machine
from bench.recall.prose import BLOCK, PLAIN_SERVICES, Refused
from bench.recall.trials import TIERS, Class
from heldout.stats import clopper_pearson

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "leaks.md"
BEGIN, END = "<!-- recall: written by python -m bench recall -->", "<!-- end of recall -->"


def recall_table(rows: Sequence[Class]) -> list[str]:
    """A line for each class, the gate beside a careful search and a plain one."""
    lines = [
        "| class | trials | gate | at least (95 %) | floor | pairs of plain words alone "
        "| folded exact | literal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            lines.append(f"| **{group}** | | | | | | | |")
        n = len(row.trials)
        low = clopper_pearson(row.caught, n).low
        floor = "" if row.floor is None else f"{row.floor:.2f}"
        plain = row.of_tier(TIERS[1])
        pairs = "" if plain is None else f"{plain:.3f}"
        mark = "" if row.holds else " (missed)"
        lines.append(
            f"| {row.name} | {n} | {row.recall:.3f} | {low:.3f} | {floor}{mark} | {pairs} "
            f"| {row.folded / n:.2f} | {row.literal / n:.2f} |"
        )
    return lines


def prose_lines(blocks: int, own: Sequence[Refused], plain: Sequence[Refused]) -> list[str]:
    """False positives over blocks of real reports."""
    lines = [
        f"Blocks of {BLOCK} sentences out of reports of real incidents, their own names, numbers "
        "and dates masked, given as edits:",
        "",
        "| inventory | blocks | refused as a leak | 95 % interval | refused for their form |",
        "|---|---|---|---|---|",
    ]
    for name, found in (
        ("of this project", own),
        (f"with {len(PLAIN_SERVICES)} services of plain words beside", plain),
    ):
        leaks = sum(bool(one.leaks) for one in found)
        interval = clopper_pearson(leaks, blocks)
        lines.append(
            f"| {name} | {blocks} | {leaks} ({leaks / blocks:.1%}) "
            f"| {interval.low:.1%} to {interval.high:.1%} | {len(found) - leaks} |"
        )
    return lines


def write_page(body: Sequence[str], command: str) -> None:
    """Put the measured part between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    stamp = f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}, `{command}`.*"
    PAGE.write_text("\n".join([head + BEGIN, stamp, "", *body, END]) + tail, encoding="utf-8")
