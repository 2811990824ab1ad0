"""``heldout ingest changes``: who changed what and when, from whatever recorded it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.errors import UsageError
from heldout.ingest.changes.audit import Audit
from heldout.ingest.changes.cloudtrail import Trail
from heldout.ingest.changes.commits import Log, commits_of, log_of
from heldout.ingest.changes.gitops import is_application, rollouts
from heldout.ingest.changes.people import People
from heldout.ingest.changes.placing import Placer
from heldout.ingest.changes.record import Change
from heldout.ingest.cloud.files import check_file
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.packed import parts_of_file
from heldout.ingest.reading import FileRecord, Outcome, Unreadable, files_of

FORMATS = ("cloudtrail", "audit", "git", "argocd")
SUFFIXES = (".json", ".jsonl", ".ndjson", ".log", ".patch", ".yaml", ".yml", ".gz")
_COMMITS = (".log", ".patch", ".txt", ".diff")


class Changes:
    """Writes of trails and audits, commits and rollouts become changes of entities."""

    name = "changes"
    reads = (
        "CloudTrail (files, lists, bus events), audit events of Kubernetes, a Git repository or a "
        "saved git log -p, histories of Argo CD applications"
    )

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read every record at or below ``path``."""
        if options.format and options.format not in FORMATS:
            raise UsageError(
                f"no format '{options.format[:30]}'", mend=f"Say one of: {', '.join(FORMATS)}"
            )
        reader = _Reader(draft, options)
        if (path / ".git").exists():
            draft.report.file(reader.repository(path))
        else:
            for relative, full in files_of(path, SUFFIXES):
                draft.report.file(reader.file(relative, full, path))
        reader.finish()


class _Reader:
    def __init__(self, draft: WorldDraft, options: ImportOptions) -> None:
        self._draft = draft
        self._only = options.format
        self._cluster = options.cluster
        self._people = People(as_they_are=options.names)
        self._trail = Trail(self._people)
        self._audit = Audit(self._people, draft.redactor, options.cluster)
        self._changes: list[Change] = []

    def repository(self, path: Path) -> FileRecord:
        """A local repository."""
        name = path.resolve().name
        try:
            return self._log(name, log_of(path), name)
        except Unreadable as problem:
            return FileRecord(name, problem.outcome, 0, problem.detail)

    def file(self, relative: str, full: Path, root: Path) -> FileRecord:
        """One file of records."""
        try:
            check_file(full, root if root.is_dir() else root.parent)
            if self._only == "git" or full.suffix in _COMMITS:
                with full.open(encoding="utf-8", errors="replace", newline="\n") as stream:
                    lines = (line.rstrip("\n") for line in stream)
                    return self._log(relative, lines, full.stem)
            return self._records(relative, full)
        except Unreadable as problem:
            return FileRecord(relative, problem.outcome, 0, problem.detail)
        except OSError as error:
            why = error.strerror or "cannot be read"
            return FileRecord(relative, "unreadable, skipped", 0, why)

    def _log(self, relative: str, lines: Iterator[str], name: str) -> FileRecord:
        log = Log(self._people, name, self._cluster)
        count = 0
        for commit in commits_of(lines):
            change = log.change(commit)
            if change is not None:
                self._changes.append(change)
                count += 1
        detail = f"{log.objects} objects changed" if count else ""
        return FileRecord(relative, "read" if count else "no object", count, detail)

    def _records(self, relative: str, full: Path) -> FileRecord:
        before = self._trail.counts + self._audit.counts
        count, problem = 0, ""
        try:
            for part in parts_of_file(full):
                for change in self._read(part):
                    self._changes.append(change)
                    count += 1
        except Unreadable as error:
            if not count:
                raise
            problem = f"what follows {error.detail}"
        passed = (self._trail.counts + self._audit.counts) - before
        notes = [f"{n} x {what}" for what, n in sorted(passed.items())]
        found: Outcome = "read" if count or passed else "no object"
        detail = "; ".join([*notes, *([problem] * bool(problem))])
        return FileRecord(relative, found, count, detail, bool(problem))

    def _read(self, part: Any) -> Iterator[Change]:
        if self._only in ("", "cloudtrail"):
            yield from self._trail.read(part)
        if self._only in ("", "audit"):
            yield from self._audit.read(part)
        if self._only in ("", "argocd"):
            listed = part if isinstance(part, list) else [part]
            for one in listed:
                if is_application(one):
                    yield from rollouts(one, self._people, self._cluster)

    def finish(self) -> None:
        """Place everything, in the order of time."""
        placer = Placer(self._draft, self._cluster)
        count = placer.place(self._changes)
        counts: Counter[str] = self._trail.counts + self._audit.counts
        self._draft.report.note(f"{count} changes")
        for what, n in sorted(counts.items()):
            self._draft.report.note(f"{n} x {what}, no change")


IMPORTER = Changes()
