"""What an import left: a world that was written, and the report about it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.graph.facts import FactRow
from heldout.graph.files import read_table
from heldout.graph.snapshot import Entity
from heldout.graph.world import World
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions, importer
from heldout.ingest.reading import FileRecord

NOW = 1_772_000_000_000_000


@dataclass
class Imported:
    """A world by what it says."""

    folder: Path
    digest: str
    files: list[FileRecord]
    unknown: Counter[str]

    @property
    def world(self) -> World:
        """The world, opened."""
        return World(self.folder)

    def outcomes(self, prefix: str) -> dict[str, str]:
        """What became of each file below a folder, with the reason."""
        return {one.path: f"{one.outcome} {one.detail}" for one in self.files
                if one.path.startswith(prefix)}  # fmt: skip

    def named(self, kind: str, name: str) -> list[Entity]:
        """Entities of a kind and name."""
        return [
            one
            for one in self.world.graph.entities.values()
            if (one.kind, one.name) == (kind, name)
        ]

    def rows(self, kind: str, name: str) -> list[FactRow]:
        """Every fact of the one entity of a kind and name."""
        (one,) = self.named(kind, name)
        return self.world.facts.of(one.id)

    def told(self, kind: str, name: str, source: str) -> dict[str, Any]:
        """What one source says of it."""
        return {one.field: json.loads(one.value_json) for one in self.rows(kind, name)
                if one.source == source}  # fmt: skip

    def ends(self, kind: str, name: str, predicate: str) -> set[str]:
        """The names at the other end of its edges."""
        (one,) = self.named(kind, name)
        graph = self.world.graph
        return {
            graph.entities[edge.dst].name
            for edge in graph.all_out(one.id)
            if edge.pred == predicate
        }

    def changes(self) -> list[dict[str, Any]]:
        """Every change event."""
        return read_table(self.folder, "change_event")

    def diffs(self) -> set[tuple[str, Any, Any]]:
        """Every field that a change moved."""
        return {(row["field"], json.loads(row["old_json"]), json.loads(row["new_json"]))
                for row in read_table(self.folder, "change_diff")}  # fmt: skip

    def text(self) -> str:
        """All of the world's words."""
        return json.dumps([read_table(self.folder, name) for name in
                           ("entity", "fact", "change_event", "change_diff")])  # fmt: skip


def imported(folder: Path, *, terraform: Path | None = None, aws: Path | None = None) -> Imported:
    """Both importers into one new world."""
    with WorldDraft() as draft:
        for name, path in (("terraform", terraform), ("aws", aws)):
            if path is not None:
                importer(name).read_into(path, draft, ImportOptions())
        digest = draft.write(folder, now=NOW)
        return Imported(folder, digest, draft.report.files, draft.report.unknown_kinds)
