"""Every text that a ledger holds, for a search over all of it."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.store.blobs import blob_text
from heldout.store.ledger import Ledger
from heldout.store.texts import texts

_BATCH = 400
"""Blobs read at a time: a few megabytes of text."""


def last_blob(ledger: Ledger) -> int:
    """The number of the newest blob, -1 without any; numbers only grow."""
    newest = ledger.read("SELECT max(rowid) AS newest FROM blobs")[0]["newest"]
    return -1 if newest is None else int(newest)


def blobs_after(ledger: Ledger, number: int) -> Iterator[str]:
    """The texts put in after blob ``number``, each once.

    Prompts, messages, tool answers, traces and brains are blobs; a trace's short texts stand in the
    blob of the trace itself.
    """
    helpers: dict[bytes, bytes] = {}
    until = last_blob(ledger)
    for first in range(number + 1, until + 1, _BATCH):
        rows = ledger.read(
            "SELECT * FROM blobs WHERE rowid BETWEEN ? AND ?",
            [first, min(first + _BATCH - 1, until)],
        )
        wanted = {row["dictionary"] for row in rows if row["dictionary"]} - set(helpers)
        helpers |= {key: text.encode() for key, text in texts(ledger, sorted(wanted)).items()}
        for row in rows:
            yield blob_text(row, helpers.get(row["dictionary"], b""))


def columns_of_text(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Every value of every text column with the name of its table."""
    found = ledger.read(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE data_type = 'VARCHAR' AND table_name IN ("
        "  SELECT table_name FROM information_schema.tables WHERE table_schema = 'main')"
        " ORDER BY table_name, ordinal_position"
    )
    for row in found:
        table, column = row["table_name"], row["column_name"]
        values = f'SELECT DISTINCT "{column}" AS value FROM "{table}" WHERE "{column}" IS NOT NULL'
        for held in ledger.read(values):
            yield str(table), str(held["value"])
