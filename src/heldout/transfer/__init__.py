"""What a brain that was tuned for one model is worth to another: a table of brains by models.

``transfer`` plays one interleaved job per model, over the held-out half through the score's own
process or over train in this one, and keeps the table in the ledger.
"""

from heldout.transfer.job import Asked, stored, transfer
from heldout.transfer.lineup import Lineup, line_up
from heldout.transfer.table import Carried, Cell, Column, Table, carried, read_table
from heldout.transfer.text import render_markdown, render_table

__all__ = [
    "Asked",
    "Carried",
    "Cell",
    "Column",
    "Lineup",
    "Table",
    "carried",
    "line_up",
    "read_table",
    "render_markdown",
    "render_table",
    "stored",
    "transfer",
]
