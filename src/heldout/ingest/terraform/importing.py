"""A file or folder of states, plans and apply logs into a world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from heldout.ingest.cloud.files import check_file, first_of, parts_of
from heldout.ingest.cloud.joining import Estate
from heldout.ingest.draft import WorldDraft
from heldout.ingest.reading import FileRecord, Outcome, Unreadable, files_of
from heldout.ingest.terraform.applied import Applied, is_apply_log, read_apply
from heldout.ingest.terraform.document import NoDocument, read_document
from heldout.ingest.terraform.placing import Counts, Stacks
from heldout.ingest.terraform.stacks import Dated, current

SUFFIXES = (".tfstate", ".json", ".backup", ".jsonl", ".ndjson", ".log")


@dataclass(slots=True)
class Result:
    """What became of each file, and of what was in them."""

    files: list[FileRecord] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    changes: int = 0


def import_terraform(path: Path, draft: WorldDraft, estate: Estate, *, account: str = "") -> Result:
    """Read everything at ``path``; the caller finishes the estate.

    Files are looked at first for their lineage, so that of a stack only its newest state is read.
    """
    result = Result()
    files = dict(files_of(path, SUFFIXES))
    seen = _Seen(path, draft)
    for relative, full in files.items():
        try:
            seen.look(relative, full)
        except Unreadable as error:
            result.files.append(FileRecord(relative, error.outcome, 0, error.detail))
    kept, passed = current(seen.dated)
    result.files += [FileRecord(one, "older, skipped", 0, why) for one, why in passed.items()]
    root = path.resolve()
    name = root.stem if path.is_file() else root.name
    stacks = Stacks(draft, estate, name, account=account, applied=seen.applied)
    for one in kept:
        count, lost = 0, ""
        try:
            for dated in _parts(one.path, files[one.path], draft):
                count += stacks.place(dated)
        except Unreadable as error:
            lost = f"cut: {error.detail}"
        found: Outcome = "read" if count else "no object"
        detail = lost or ("" if count else "declares no resource")
        result.files.append(FileRecord(one.path, found, count, detail, bool(lost)))
    result.changes = stacks.apply()
    result.files += [FileRecord(relative, "read", len(one.steps), "an apply")
                      for relative, one in seen.applied.items()]  # fmt: skip
    result.counts = stacks.counts
    result.files.sort(key=lambda one: one.path)
    return result


class _Seen:
    """The files as a first look finds them: documents without their resources, and applies."""

    def __init__(self, root: Path, draft: WorldDraft) -> None:
        self._root = root
        self._hide = draft.redactor.placeholder
        self.dated: list[Dated] = []
        self.applied: dict[str, Applied] = {}

    def look(self, relative: str, full: Path) -> None:
        """Look at one file; :class:`Unreadable` says why it counts for nothing."""
        check_file(full, self._root)
        first = first_of(full)
        if is_apply_log(first):
            with full.open(encoding="utf-8", errors="replace") as lines:
                applied = read_apply(lines)
            if applied is None:
                raise Unreadable("no object", "a log of Terraform in which nothing was applied")
            self.applied[relative] = applied
            return
        try:
            self.dated.append(Dated(relative, read_document(first, self._hide)))
        except NoDocument as error:
            raise Unreadable("no object", str(error)) from error


def _parts(relative: str, full: Path, draft: WorldDraft) -> Iterator[Dated]:
    for raw in parts_of(full):
        try:
            yield Dated(relative, read_document(raw, draft.redactor.placeholder))
        except NoDocument as error:
            raise Unreadable("no object", str(error)) from error
