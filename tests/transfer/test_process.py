"""A whole table over real worlds: the score's own process for each column, then train here."""

from __future__ import annotations

from pathlib import Path

import pytest

from heldout.brain import APPEND, load_brain, write_brain
from heldout.overlays import folder
from heldout.pipeline.transferring import transfer_now
from heldout.scaffold import make_project
from heldout.settings import load_settings
from heldout.store import Ledger, queries
from heldout.transfer import Asked, stored

ONE, TWO = "sim/anchored@low", "sim/scattered@low"
ADVICE = (
    "- Extend every change search to the 30 days before the alert.\n"
    "- For the setting that explains the failure, find out since when it has held this value.\n"
)


@pytest.mark.slow
def test_a_table_through_the_scores_process(tmp_path: Path):
    """Two simulated models, one tuned brain: a score and a look for each, and a mechanism at most."""
    home = tmp_path / "p"
    make_project(home, with_set="demo")
    settings = load_settings(home)
    brain = load_brain(settings.brain)
    write_brain(brain.with_file(f"{folder(ONE)}method.md", f"{APPEND}\n\n{ADVICE}"), settings.brain)
    done = transfer_now(settings, Asked(models=(ONE, TWO), repeats=1))
    assert done.text.startswith("Mechanism test")
    assert Path(done.page).is_file()
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        table = stored(ledger)
        rows = queries.scores(ledger)
        looks = {model: set(queries.looks(ledger, model).values()) for model in (ONE, TWO)}
    assert (table.owners, table.models) == ((ONE,), (ONE, TWO))
    assert looks == {ONE: {1}, TWO: {1}}
    assert all(row.findings == 0 and row.gate_version for row in rows)
    assert len(table.cell(ONE, ONE).solved) > len(table.cell("", ONE).solved)
    assert {cell.word for column in table.columns for cell in column.cells} <= {
        "", "mechanism shown", "no gain shown", "harm",
    }  # fmt: skip
