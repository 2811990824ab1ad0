"""Texts and brains kept by their content: put in once, read back by hash."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from heldout.brain import Brain
from heldout.errors import StoreError
from heldout.store.blobs import blob_row, blob_text
from heldout.store.ledger import Ledger


def texts(ledger: Ledger, hashes: Iterable[bytes]) -> dict[bytes, str]:
    """The stored texts by hash; a missing one is a :class:`StoreError`."""
    wanted = list(dict.fromkeys(hashes))
    rows = _rows(ledger, wanted)
    needed = {row["dictionary"] for row in rows.values() if row["dictionary"]}
    helpers = {h: blob_text(row).encode() for h, row in _rows(ledger, sorted(needed)).items()}
    found: dict[bytes, str] = {}
    for one in wanted:
        row = rows.get(one)
        if row is None or (row["dictionary"] and row["dictionary"] not in helpers):
            raise StoreError(
                f"the stored text {one.hex()} is missing",
                where=str(ledger.path),
                mend="Restore the ledger from a backup",
            )
        found[one] = blob_text(row, helpers.get(row["dictionary"], b""))
    return found


def _rows(ledger: Ledger, hashes: list[bytes]) -> dict[bytes, dict[str, Any]]:
    if not hashes:
        return {}
    slots = ", ".join(["CAST(? AS BLOB)"] * len(hashes))
    # By row number: the wide column is then read for these rows only.
    rows = f"SELECT rowid FROM blobs WHERE hash IN ({slots})"
    found = ledger.read(f"SELECT * FROM blobs WHERE rowid IN ({rows})", hashes)
    return {row["hash"]: row for row in found}


def remember_brain(ledger: Ledger, brain: Brain) -> str:
    """Keep a brain, so that every result can be traced to its text; returns its hash."""
    blob = blob_row(json.dumps(brain_plain(brain), ensure_ascii=False))
    row = {"hash": brain.hash, "blob": blob["hash"], "lines": brain.lines()}
    ledger.append_group({"blobs": [blob], "brains": [row]})
    return brain.hash


def first_brain(ledger: Ledger) -> tuple[Brain, int] | None:
    """The first brain that a ledger kept, and when (microseconds, UTC); ``None`` without one."""
    rows = ledger.read('SELECT hash, "at" FROM brains ORDER BY rowid LIMIT 1')
    return (brain(ledger, rows[0]["hash"]), int(rows[0]["at"])) if rows else None


def brain_plain(brain: Brain) -> dict[str, Any]:
    """A brain as plain data; its files keep their order."""
    return {
        "files": list(brain.files.items()),
        "load": list(brain.load),
        "on_demand": list(brain.on_demand),
        "frozen": list(brain.frozen),
        "extra": list(brain.extra.items()),
    }


def brain_from_plain(plain: Mapping[str, Any]) -> Brain:
    """Rebuild a brain from :func:`brain_plain`."""
    return Brain(
        files=dict(plain["files"]),
        load=tuple(plain["load"]),
        on_demand=tuple(plain["on_demand"]),
        frozen=tuple(plain["frozen"]),
        extra=dict(plain["extra"]),
    )


def brain(ledger: Ledger, digest: str) -> Brain:
    """A brain by its hash or the beginning of it; a damaged or unknown one is a StoreError."""
    rows = ledger.read("SELECT hash, blob FROM brains WHERE starts_with(hash, ?)", [digest])
    if len(rows) != 1:
        raise StoreError(
            f"'{digest}' names no stored brain, or more than one",
            where=str(ledger.path),
            mend="'heldout status' lists the brains in use",
        )
    found = brain_from_plain(json.loads(texts(ledger, [rows[0]["blob"]])[rows[0]["blob"]]))
    if found.hash != rows[0]["hash"]:
        raise StoreError(
            f"the stored brain {digest} is damaged",
            where=str(ledger.path),
            mend="Restore the ledger from a backup",
        )
    return found
