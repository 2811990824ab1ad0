"""Kubernetes manifests and dumps: read a folder, see what it holds, make a world of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.graph.topology import Topology
from heldout.ingest.draft import WorldDraft
from heldout.ingest.happenings import happenings
from heldout.ingest.listing import Listed, is_list, is_page, join, listed_in
from heldout.ingest.objects import K8sObject, objects_in
from heldout.ingest.packing import packed
from heldout.ingest.reading import FileRecord, Unreadable, documents_of, files_of, is_large
from heldout.ingest.redaction import Redactor
from heldout.ingest.references import Identity, Reference, identity, references
from heldout.ingest.report import Report
from heldout.ingest.tree import build_topology


@dataclass(frozen=True, slots=True)
class Imported:
    """Objects as found (secrets redacted), what they say of each other, and the report."""

    objects: tuple[K8sObject, ...]
    edges: tuple[Reference, ...]
    report: Report
    name: str = "imported"
    listed: Mapping[str, Collection[str]] = field(default_factory=dict, repr=False)
    by_identity: Mapping[Identity, K8sObject] = field(default_factory=dict, repr=False)


def read(path: Path, redactor: Redactor | None = None) -> Imported:
    """Read every manifest or dump at or below ``path``.

    A file that cannot be read is a record in the report. A path where there is nothing, or nothing
    that is an object, is an :class:`~heldout.errors.IngestError` or an empty import.
    """
    redactor = redactor or Redactor()
    records: list[FileRecord] = []
    listed: Listed = {}

    def found() -> Iterator[K8sObject]:
        for relative, full in files_of(path):
            record, objects = _read_file(relative, full, path, redactor, listed)
            records.append(record)
            yield from objects

    name = path.stem if path.is_file() else path.resolve().name
    imported = of_objects(found(), name=name, listed=listed)
    imported.report.files = records
    imported.report.redacted = redactor.count
    return imported


def of_objects(
    objects: Iterable[K8sObject], *, name: str, listed: Listed | None = None
) -> Imported:
    """An import of objects that were read already; of one told twice that with a status counts."""
    kept: dict[Identity, K8sObject] = {}
    events: list[K8sObject] = []
    report = Report()
    for item in objects:
        report.kinds[item.kind] += 1
        if not item.is_known:
            report.unknown_kinds[item.kind] += 1
        if item.kind == "Event":
            events.append(item)
            continue
        known = kept.get(identity(item))
        if known is None or (item.status and not known.status):
            kept[identity(item)] = item
        report.repeated += known is not None
    return Imported(
        objects=(*kept.values(), *events),
        edges=references(kept),
        report=report,
        name=name,
        listed=listed if listed is not None else {},
        by_identity=kept,
    )


def _read_file(
    relative: str, full: Path, root: Path, redactor: Redactor, listed: Listed
) -> tuple[FileRecord, list[K8sObject]]:
    objects: list[K8sObject] = []
    problems: list[str] = []
    try:
        documents = documents_of(full, root if root.is_dir() else root.parent)
        keep = packed if is_large(full) else dict
        is_whole = True
        for document in documents:
            first = len(objects)
            for found in objects_in(document, relative):
                if found.item is None:
                    problems.append(found.problem)
                else:
                    objects.append(_redacted(found.item, redactor, keep))
            # Of a large file a document is only a part of a list, so it is looked at as a whole.
            is_whole = is_whole and not is_page(document)
            if keep is dict and is_list(document):
                join(listed, listed_in(objects[first:]))
        if keep is packed and is_whole:
            join(listed, listed_in(objects))
    except Unreadable as problem:
        if not objects:
            return FileRecord(relative, problem.outcome, 0, problem.detail), []
        problems.append(f"what follows {problem.detail}")
    if "templated" in problems and not objects:
        return FileRecord(relative, "templated, skipped", 0, "a name is a template expression"), []
    detail = "; ".join(dict.fromkeys(problems))[:300]
    if objects:
        return FileRecord(relative, "read", len(objects), detail, bool(problems)), objects
    no_kind = any("kind" in problem for problem in problems)
    return FileRecord(relative, "no kind" if no_kind else "no object", 0, detail), []


def _redacted(
    item: K8sObject, redactor: Redactor, keep: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> K8sObject:
    body = keep(redactor.object(item.body, is_secret=item.kind == "Secret"))
    return K8sObject(item.kind, item.api_version, item.namespace, item.name, body, item.file)


def topology(imported: Imported, *, cluster: str = "", derives: bool = True) -> Topology:
    """The import as a topology: its objects, the pods that they make, the applications on top."""
    name = cluster or imported.name
    return build_topology(
        imported.by_identity, imported.edges, name, listed=imported.listed, derives=derives
    )


def into(draft: WorldDraft, imported: Imported, *, cluster: str = "", derives: bool = True) -> None:
    """Put an import into a draft: objects, the pods that they make, applications, and events.

    Events become runtime changes of the objects that they are about. A recorded incident does not
    derive: pods that are inferred to run would contradict what was wrong.
    """
    found = topology(imported, cluster=cluster, derives=derives)
    draft.topology(found)
    _events_into(draft, imported, found)


def _events_into(draft: WorldDraft, imported: Imported, found: Topology) -> None:
    home = cluster_of(found)
    for one in happenings(item for item in imported.objects if item.kind == "Event"):
        external = "/".join(part for part in (home, one.namespace, one.name) if part)
        about = draft.find(kind=one.kind, name=one.name, external_id=external)
        if not about:
            draft.report.left_out["event about an object that is not there"] += 1
            continue
        draft.change(
            f"event\x1f{home}\x1f{one.key}", one.at, "runtime", actor=one.actor,
            actor_kind="controller", source="k8s", summary=one.summary, targets=about,
        )  # fmt: skip


def cluster_of(found: Topology) -> str:
    """The name of a topology's cluster."""
    return next((one.name for one in found.entities if one.kind == "Cluster"), found.name)
