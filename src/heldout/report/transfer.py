"""The table of brains by models: a part of a score's report, and a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

import heldout
from heldout.compare.text import p_value
from heldout.markup import templates
from heldout.overlays import alike
from heldout.report.saving import write_page
from heldout.score import Score
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store import brain as stored_brain
from heldout.store.transfers import transfers
from heldout.terminal import visible
from heldout.transfer import Cell, Table, carried, read_table
from heldout.transfer.text import notes, row_name

_MARKS = {True: "\N{BLACK CIRCLE}", False: "\N{MIDDLE DOT}", None: "\N{EN DASH}"}
_BROKEN = "\N{MULTIPLICATION SIGN}"


def table_beside(ledger: Ledger, score: Score | None) -> Table | None:
    """The table to show with a score: its own, else the newest of the held-out half that fits.

    A table fits that has the score's model as a column and whose brain reads, to that model, as the
    brain after does.
    """
    if score is None:
        return None
    own = score.endpoint.get("pins", {}).get("transfer")
    for row in transfers(ledger):
        if row.result is None or row.half != "test" or row.set != score.set:
            continue
        if row.transfer == own:
            return read_table(row.result, where=f"transfer {row.transfer}")
        table = read_table(row.result, where=f"transfer {row.transfer}")
        if own or score.model not in table.models:
            continue
        shown, scored = (stored_brain(ledger, one) for one in (row.brain_hash, score.after_hash))
        if alike(shown, scored, score.model):
            return table
    return None


def part(table: Table | None) -> Markup:
    """The part of a report, empty without a table."""
    if table is None:
        return Markup("")
    return Markup(_environment().get_template("transfer.html.j2").render(**_view(table)))


def save_table(table: Table, settings: Settings) -> Path:
    """Write a table as a page of its own and return its path."""
    half = "held-out" if table.half == "test" else "train"
    text = (
        _environment()
        .get_template("transfer_page.html.j2")
        .render(
            title="What carries over from model to model",
            meta=f"{settings.name} · set {table.set} · {half} half · transfer {table.transfer}",
            version=heldout.__version__,
            **_view(table),
        )
    )
    return write_page(settings.reports / f"transfer-{table.transfer}.html", text)


def _view(table: Table) -> dict[str, object]:
    """Everything that the templates print."""
    owners = ("", *table.owners)
    cells = {(owner, model): table.cell(owner, model) for owner in owners for model in table.models}
    return {
        "t": table,
        "names": [(owner, row_name(owner)) for owner in owners],
        "cells": cells,
        "notes": notes(table),
        "carried": carried(table),
        "grid": _grid(table, list(cells.values())),
        "order": [(model, one, n) for model in table.models for n, one in enumerate(owners)],
    }


def _grid(table: Table, cells: Sequence[Cell]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each trap incident that not every cell leaves unsolved: a mark and its tone for each cell."""
    by_key = {(one.model, one.owner): one for one in cells}
    order = [(model, owner) for model in table.models for owner in ("", *table.owners)]
    rows = []
    for name in table.incidents():
        marks = []
        for key in order:
            cell = by_key[key]
            solved = None if name in cell.unpaired else name in cell.solved
            tone = "good-text" if name in cell.fixed else "bad-text" if name in cell.broken else ""
            marks.append((_BROKEN if name in cell.broken else _MARKS[solved], tone))
        rows.append((name, marks))
    return rows


@cache
def _environment() -> jinja2.Environment:
    return templates(Path(__file__).parent / "templates", visible=visible, p=p_value)
