"""A file or folder of inventories and recorded items into a world."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from heldout.ingest.aws.answers import Hint, hint_of, read_answer
from heldout.ingest.aws.placing import Counts, Inventory
from heldout.ingest.aws.recorder import items_of, read_moment
from heldout.ingest.cloud.files import check_file, first_of, parts_of
from heldout.ingest.cloud.joining import Estate
from heldout.ingest.draft import WorldDraft
from heldout.ingest.reading import FileRecord, Outcome, Unreadable, files_of

SUFFIXES = (".json", ".jsonl", ".ndjson")


@dataclass(slots=True)
class Result:
    """What became of each file, and of what was in them."""

    files: list[FileRecord] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    changes: int = 0


def import_aws(path: Path, draft: WorldDraft, estate: Estate, *, account: str = "") -> Result:
    """Read everything at ``path``; the caller finishes the estate.

    An answer of ``get-caller-identity`` tells the account of the answers in its folder.
    """
    result = Result()
    files = list(files_of(path, SUFFIXES))
    callers = _callers(files)
    inventory = Inventory(draft, estate)
    for relative, full in files:
        folder = str(PurePosixPath(relative).parent)
        hint = hint_of(relative, callers.get(folder) or account)
        count, detail = 0, ""
        found: Outcome = "no object"
        try:
            check_file(full, path)
            for raw in parts_of(full):
                told = _read(raw, hint, inventory)
                if told is not None:
                    count, found = count + told, "read"
        except Unreadable as error:
            detail = f"cut: {error.detail}" if count else error.detail
            found = found if count else error.outcome
        result.files.append(FileRecord(relative, found, count, detail, bool(count and detail)))
    inventory.finish()
    result.counts = inventory.counts
    result.changes = inventory.counts.changes
    return result


def _read(raw: Any, hint: Hint, inventory: Inventory) -> int | None:
    """Read one document, or a part of one; how many items it held, ``None`` where it is neither."""
    count = 0
    for item in items_of(raw):
        one = read_moment(item, hint.place)
        if one is not None:
            inventory.keep(one)
            count += 1
    return count or inventory.answer(read_answer(raw, hint))


def _callers(files: list[tuple[str, Path]]) -> dict[str, str]:
    """The account of each folder in which somebody asked who they are."""
    found: dict[str, str] = {}
    for relative, full in files:
        if "identity" in full.name.lower():
            try:
                check_file(full, full.parent)
                first = first_of(full)
            except Unreadable:
                continue
            if isinstance(first, dict) and {"UserId", "Account", "Arn"} <= first.keys():
                found[str(PurePosixPath(relative).parent)] = str(first["Account"])
    return found
