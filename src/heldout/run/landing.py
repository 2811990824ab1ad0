"""Finished investigations land as files before their rows are written, and go when they are."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from heldout.errors import StoreError
from heldout.run.records import Record, load_record, long_texts, record_rows
from heldout.store import Ledger, texts
from heldout.store.blobs import Dictionary, make_dictionary

_HELD = 32
"""Dictionaries held in memory; a run goes from world to world, so few are in use at once."""


def land(path: Path, text: str, what: str = "a finished investigation") -> None:
    """Write one file whole: beside its name, synced, renamed, the folder synced.

    A full disk is a :class:`StoreError` that says ``what`` was lost, and leaves nothing.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreError(
            f"{what} could not be written ({error.strerror})",
            where=str(path),
            mend="Free space on the disk and run 'heldout resume'; nothing is asked twice",
        ) from error


class Ingest:
    """Turns records into rows. One per process that writes the ledger; used by one thread."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._dictionaries: OrderedDict[str, Dictionary] = OrderedDict()

    def add(self, record: Record, on_commit: Callable[[], None] | None = None) -> None:
        """Hand one record's rows to the ledger, to be committed together."""
        dictionary = self._dictionary(record)
        self._ledger.append_group(record_rows(record, dictionary), on_commit=on_commit)

    def _dictionary(self, record: Record) -> Dictionary | None:
        """The dictionary of the record's world; its first investigation's answers make it."""
        scope = record["world"]
        if scope not in self._dictionaries:
            sql = "SELECT hash FROM dictionaries WHERE scope = ?"
            stored = [row["hash"] for row in self._ledger.read(sql, [scope])]
            samples = long_texts(record)
            if stored:
                text = texts(self._ledger, stored)[stored[0]]
                self._dictionaries[scope] = Dictionary(
                    stored[0], text.encode("utf-8", "surrogatepass")
                )
            elif samples:
                dictionary, blob = make_dictionary(samples)
                self._dictionaries[scope] = dictionary
                row = {"scope": scope, "hash": dictionary.hash}
                self._ledger.append_group({"blobs": [blob], "dictionaries": [row]})
        if len(self._dictionaries) > _HELD:
            self._dictionaries.popitem(last=False)
        return self._dictionaries.get(scope)


def ingest_landed(ledger: Ledger, landing: Path, ingest: Ingest | None = None) -> int:
    """Bring into the ledger what earlier processes landed and could not write; returns how many.

    A file whose rows are already there is only taken away.
    """
    count = 0
    for folder in sorted(path for path in landing.glob("*") if path.is_dir()):
        for part in folder.glob("*.part"):
            part.unlink(missing_ok=True)
        for path in sorted(folder.glob("*.json")):
            ingest = ingest or Ingest(ledger)
            record = load_record(path.read_bytes(), str(path))
            ingest.add(record, on_commit=partial(path.unlink, missing_ok=True))
            count += 1
        ledger.flush()
        remove_if_empty(folder)
    return count


def remove_if_empty(folder: Path) -> None:
    """Take a folder away unless something is in it."""
    try:
        folder.rmdir()
    except OSError:
        return  # Not empty: a file landed meanwhile, and the next start ingests it.
