"""A table as text for a terminal, and as Markdown for a page."""

from __future__ import annotations

import textwrap

from heldout.compare.text import p_value, table
from heldout.terminal import visible
from heldout.transfer.table import Carried, Cell, Column, Table, carried

_WIDTH = 96
NOT_EVIDENCE = (
    "Train half: the brains were chosen by these incidents, so this shows what was learnt, not "
    "what it is worth. No look was counted."
)


def row_name(owner: str) -> str:
    """How a row is called."""
    return f"tuned for {visible(owner, 80)}" if owner else "shared brain"


def cell_words(cell: Cell) -> tuple[str, str, str]:
    """A cell's solved, fixed and broken against the shared brain, and its p."""
    solved = f"{len(cell.solved)} of {cell.traps}"
    if cell.p is None or cell.p_adjusted is None:
        return solved, "", ""
    flips = f"{len(cell.fixed)} fixed, {len(cell.broken)} broken"
    return solved, flips, f"{p_value(cell.p)}, adjusted {cell.p_adjusted:.2g}"


def notes(found: Table) -> list[str]:
    """What must be said beside the figures, the class of evidence first."""
    lines = _evidence(found)
    if found.half == "train":
        return [*lines, NOT_EVIDENCE, *_missing(found)]
    compared = len(found.owners) * len(found.columns)
    cells = "1 tuned cell" if compared == 1 else f"{compared} tuned cells"
    lines.append(
        "Held-out half, fresh results, each column one interleaved job. p is exact McNemar against "
        f"the shared brain with the same model; adjusted is Bonferroni over {cells} and the number "
        "of the look."
    )
    lines += [
        f"{visible(one.model, 80)}: look {one.look} of {one.look_budget} (score {one.score})."
        for one in found.columns
    ]
    return lines + _missing(found)


def _missing(found: Table) -> list[str]:
    """Which models' jobs fell short of what was planned, by their worst cell."""
    worst = {one.model: min(cell.coverage for cell in one.cells) for one in found.columns}
    return [
        f"{visible(model, 80)}: coverage {share:.1%}; the rest is neither solved nor unsolved."
        for model, share in worst.items()
        if share < 1
    ]


def _evidence(found: Table) -> list[str]:
    """The sentence on the class of evidence, once for all models that it says the same of."""
    alike: dict[str, list[Column]] = {}
    for column in found.columns:
        alike.setdefault(column.evidence.replace(column.model, ""), []).append(column)
    lines = []
    for first, *others in alike.values():
        same = ", ".join(visible(one.model, 80) for one in others)
        more = f" The same holds for {same}." if same else ""
        lines.append(visible(first.evidence) + more)
    return lines


def told(one: Carried) -> list[str]:
    """What became of what a brain fixed with its own model, in sentences."""
    owner, model = visible(one.owner, 80), visible(one.model, 80)
    few = f", {len(one.unpaired)} have too few valid runs" if one.unpaired else ""
    lines = [
        f"Of {one.gained} trap incidents that the brain tuned for {owner} fixed there, with "
        f"{model} it fixes {len(one.fixed)}; {len(one.solved_before)} that model solves without "
        f"it, {len(one.not_fixed)} stay unsolved, {len(one.broken)} break{few}. "
        f"{len(one.beyond)} more are fixed there only."
    ]
    named = (
        ("carry over", one.fixed),
        ("do not", one.not_fixed),
        ("break", one.broken),
        ("there only", one.beyond),
    )
    return lines + [f"  {what}: {', '.join(names)}" for what, names in named if names]


def render_table(found: Table) -> str:
    """The whole table for a terminal: evidence, figures, then incident by incident."""
    lead = notes(found)
    blocks = [*(textwrap.fill(line, _WIDTH) for line in lead), ""]
    for column in found.columns:
        blocks += [_column(found, column), ""]
    for one in carried(found):
        first, *named = told(one)
        blocks.append(textwrap.fill(first, _WIDTH))
        blocks += [
            textwrap.fill(line, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
            for line in named
        ]
    usd = "unknown" if found.usd is None else f"{found.usd:.2f}"
    seconds = sum(column.seconds for column in found.columns)
    blocks.append(
        f"transfer {found.transfer} · set {visible(found.set, 80)} · {found.repeats} repeats · "
        f"{usd} USD · {seconds:.0f} s"
    )
    return "\n".join(blocks)


def _column(found: Table, column: Column) -> str:
    """One model's rows: every brain, the model's own marked."""
    head = (
        "traps",
        "fixed",
        "broken",
        "McNemar",
        "adjusted",
        "ends as",
        "controls",
        "of them broken",
    )
    rows: list[tuple[str, ...]] = [(visible(column.model, 80), *head)]
    for owner in ("", *found.owners):
        cell = found.cell(owner, column.model)
        name = row_name(owner) + (" (its own)" if cell.own else "")
        solved = f"{len(cell.solved)} of {cell.traps}"
        controls = f"{cell.controls_solved} of {cell.controls}"
        against = ("", "", "", "", "")
        broken = ""
        if cell.p is not None and cell.p_adjusted is not None:
            flips = str(len(cell.fixed)), str(len(cell.broken))
            against = (*flips, p_value(cell.p), f"{cell.p_adjusted:.2g}", cell.word)
            broken = str(cell.controls_broken)
        rows.append((name, solved, *against, controls, broken))
    return table(rows)


def render_markdown(found: Table) -> str:
    """The table and its notes for a page of documentation."""
    lines = [
        "| brain | " + " | ".join(visible(model, 80) for model in found.models) + " |",
        "|---" * (1 + len(found.models)) + "|",
    ]
    for owner in ("", *found.owners):
        cells = [found.cell(owner, model) for model in found.models]
        words = ["; ".join(_said(one)) for one in cells]
        lines.append(f"| {row_name(owner)} | " + " | ".join(words) + " |")
    lines.append("")
    lines += [f"- {told(one)[0]}" for one in carried(found)]
    lines += [f"- {line}" for line in notes(found)]
    return "\n".join(lines)


def _said(cell: Cell) -> list[str]:
    """A cell of the page, part by part."""
    solved, *against = cell_words(cell)
    controls = f"controls {cell.controls_solved} of {cell.controls}"
    return [f"{solved} traps", *filter(None, (*against, cell.word)), controls]
