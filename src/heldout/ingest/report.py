"""What an import found and what it did not: nothing is dropped in silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from heldout.errors import IngestError
from heldout.ingest.reading import FileRecord

FINE = ("read", "known, skipped")
"""Outcomes of a file that nobody has to look after."""

MOST_SHOWN = 40


@dataclass(slots=True)
class Report:
    """Every file with what became of it, kinds found, and what was left out or replaced.

    ``unknown_kinds`` are kept as CustomResource; ``left_out`` counts what the world cannot say, by
    what it is; ``joined`` counts what was recognised as an entity that was there already, by what
    told so; ``redacted`` counts replaced secret values, ``repeated`` objects read twice.
    """

    files: list[FileRecord] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    unknown_kinds: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    joined: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    redacted: int = 0
    repeated: int = 0

    def file(self, record: FileRecord) -> None:
        """Keep what became of a file."""
        self.files.append(record)

    def note(self, text: str) -> None:
        """Keep a remark, once."""
        if text not in self.notes:
            self.notes.append(text)

    def outcomes(self) -> dict[str, int]:
        """How many files came to which outcome."""
        return dict(sorted(Counter(record.outcome for record in self.files).items()))

    def problems(self) -> list[str]:
        """One line for each file that was not read whole, and for what was left out of others."""
        found = [
            f"{record.path}: {record.outcome}{': ' + record.detail if record.detail else ''}"
            for record in self.files
            if record.outcome not in FINE or record.partial
        ]
        return found + [f"left out: {what}, {n} times" for what, n in sorted(self.left_out.items())]

    def require_whole(self) -> None:
        """Raise :class:`IngestError` where anything was not read, or left out (``--strict``)."""
        problems = self.problems()
        if problems:
            more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            raise IngestError(
                f"not everything could be read: {problems[0]}{more}",
                mend="Nothing was written; leave out --strict to import the rest",
            )

    def lines(self) -> list[str]:
        """The report in words, problems one a line."""
        total = sum(self.kinds.values())
        found = [f"{total} objects of {len(self.kinds)} kinds from {len(self.files)} files"]
        found += [f"{count} files: {outcome}" for outcome, count in self.outcomes().items()]
        if self.unknown_kinds:
            named = ", ".join(f"{kind} {n}" for kind, n in sorted(self.unknown_kinds.items()))
            found.append(f"kept as CustomResource: {named}")
        if self.joined:
            named = ", ".join(f"{n} by {what}" for what, n in sorted(self.joined.items()))
            found.append(f"joined: {named}")
        if self.redacted:
            found.append(f"{self.redacted} secret values replaced")
        if self.repeated:
            found.append(f"{self.repeated} objects were there already and left out")
        found += self.notes
        details = [
            f"{one.path}: {one.detail}"
            for one in self.files
            if one.outcome in FINE and one.detail and not one.partial
        ]
        listed = [*self.problems(), *details]
        found += listed[:MOST_SHOWN]
        if len(listed) > MOST_SHOWN:
            found.append(f"... and {len(listed) - MOST_SHOWN} more; --json shows all")
        return found

    def plain(self) -> dict[str, Any]:
        """The whole report as plain data."""
        return {
            "files": [
                {"path": one.path, "outcome": one.outcome, "objects": one.objects,
                 "detail": one.detail}
                for one in self.files
            ],
            "kinds": dict(sorted(self.kinds.items())),
            "unknown_kinds": dict(sorted(self.unknown_kinds.items())),
            "left_out": dict(sorted(self.left_out.items())),
            "joined": dict(sorted(self.joined.items())),
            "notes": list(self.notes),
            "redacted": self.redacted,
            "repeated": self.repeated,
        }  # fmt: skip
