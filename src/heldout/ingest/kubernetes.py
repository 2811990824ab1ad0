"""Kubernetes manifests and dumps: read a folder, see what it holds, make a world of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heldout.graph.schema import WorldTables
from heldout.graph.topology import Topology
from heldout.ingest.objects import K8sObject, objects_in
from heldout.ingest.reading import FileRecord, Unreadable, documents_of, files_of
from heldout.ingest.redaction import Redactor
from heldout.ingest.references import Identity, Reference, identity, references
from heldout.ingest.tables import world_tables
from heldout.ingest.tree import build_topology


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What was found and what was not: every file, every kind, and the kinds without a word.

    ``redacted`` counts replaced secret values, ``repeated`` objects that were there already.
    """

    files: tuple[FileRecord, ...]
    kinds: Mapping[str, int]
    unknown_kinds: Mapping[str, int]
    redacted: int = 0
    repeated: int = 0

    def outcomes(self) -> dict[str, int]:
        """How many files came to which outcome."""
        return dict(sorted(Counter(record.outcome for record in self.files).items()))

    def lines(self) -> list[str]:
        """The report in words, problems one a line."""
        total = sum(self.kinds.values())
        found = [f"{total} objects of {len(self.kinds)} kinds from {len(self.files)} files"]
        found += [f"{count} files: {outcome}" for outcome, count in self.outcomes().items()]
        if self.unknown_kinds:
            named = ", ".join(f"{kind} {n}" for kind, n in self.unknown_kinds.items())
            found.append(f"kept as CustomResource: {named}")
        if self.redacted:
            found.append(f"{self.redacted} secret values replaced")
        if self.repeated:
            found.append(f"{self.repeated} objects were there already and left out")
        found += [
            f"{record.path}: {record.outcome}{': ' + record.detail if record.detail else ''}"
            for record in self.files
            if record.outcome != "read"
        ]
        return found


@dataclass(frozen=True, slots=True)
class Imported:
    """Objects as found (secrets redacted), what they say of each other, and the report."""

    objects: tuple[K8sObject, ...]
    edges: tuple[Reference, ...]
    report: ImportReport
    name: str = "imported"
    by_identity: Mapping[Identity, K8sObject] = field(default_factory=dict, repr=False)


def read(path: Path) -> Imported:
    """Read every manifest or dump at or below ``path``.

    A file that cannot be read is a record in the report. A path where there is nothing, or nothing
    that is an object, is an :class:`~heldout.errors.IngestError` or an empty import.
    """
    redactor = Redactor()
    records: list[FileRecord] = []
    kept: dict[Identity, K8sObject] = {}
    events: list[K8sObject] = []
    kinds: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    repeated = 0
    for relative, full in files_of(path):
        record, objects = _read_file(relative, full, path, redactor)
        records.append(record)
        for item in objects:
            kinds[item.kind] += 1
            if not item.is_known:
                unknown[item.kind] += 1
            if item.kind == "Event":
                events.append(item)
                continue
            known = kept.get(identity(item))
            if known is None or (item.status and not known.status):
                kept[identity(item)] = item
            repeated += known is not None
    report = ImportReport(
        tuple(records), _sorted(kinds), _sorted(unknown), redactor.count, repeated
    )
    return Imported(
        objects=(*kept.values(), *events),
        edges=references(kept),
        report=report,
        name=path.stem if path.is_file() else path.resolve().name,
        by_identity=kept,
    )


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _read_file(
    relative: str, full: Path, root: Path, redactor: Redactor
) -> tuple[FileRecord, list[K8sObject]]:
    try:
        documents = documents_of(full, root if root.is_dir() else root.parent)
    except Unreadable as problem:
        return FileRecord(relative, problem.outcome, 0, problem.detail), []
    objects: list[K8sObject] = []
    problems: list[str] = []
    for document in documents:
        for found in objects_in(document, relative):
            if found.item is None:
                problems.append(found.problem)
            else:
                objects.append(_redacted(found.item, redactor))
    if "templated" in problems and not objects:
        return FileRecord(relative, "templated, skipped", 0, "a name is a template expression"), []
    detail = "; ".join(dict.fromkeys(problems))[:300]
    if objects:
        return FileRecord(relative, "read", len(objects), detail), objects
    no_kind = any("kind" in problem for problem in problems)
    return FileRecord(relative, "no kind" if no_kind else "no object", 0, detail), []


def _redacted(item: K8sObject, redactor: Redactor) -> K8sObject:
    body = redactor.object(item.body, is_secret=item.kind == "Secret")
    return K8sObject(item.kind, item.api_version, item.namespace, item.name, body, item.file)


def topology(imported: Imported, *, cluster: str = "") -> Topology:
    """The import as a topology: its objects, the pods that they make, the applications on top."""
    return build_topology(imported.by_identity, imported.edges, cluster or imported.name)


def to_world(imported: Imported, *, now: int, cluster: str = "") -> WorldTables:
    """The import as a world without history, as it stands at ``now`` (microseconds).

    Imported Kubernetes events become runtime changes.
    """
    events = [item for item in imported.objects if item.kind == "Event"]
    return world_tables(topology(imported, cluster=cluster), events, now=now)
