"""Real material into a world: one import, its report, and where the world is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.errors import ConfigError, IngestError, UsageError, WorldError
from heldout.graph.files import MANIFEST
from heldout.settings import load_settings

if TYPE_CHECKING:
    from heldout.graph.world import World
    from heldout.ingest.importer import ImportOptions


@dataclass(frozen=True, slots=True)
class Ingest:
    """What to read and where to: ``into`` is a folder, a name in the project, or empty.

    ``into_set`` is the set that material which holds incidents is kept as.
    """

    kind: str
    path: Path
    into: str = ""
    into_set: str = ""
    as_json: bool = False


def world_dir(into: str, project: Path | None) -> Path:
    """Where a world is kept: a bare name below ``.heldout/imported`` of the project, else a folder.

    A name outside of a project is a :class:`ConfigError`.
    """
    if "/" in into or into.startswith("."):
        return Path(into)
    return load_settings(project).state / "imported" / into


def kept_world(name: str) -> Path:
    """The folder that a name means: itself where there is something, else a world of the project.

    Where there is neither, or no project, it is the name itself, and nothing is there.
    """
    if Path(name).exists():
        return Path(name)
    try:
        return world_dir(name, None)
    except ConfigError:
        return Path(name)


def open_world(name: str) -> World:
    """The world of a name or folder; where there is none it is a :class:`WorldError`."""
    from heldout.graph.world import World

    path = kept_world(name)
    if not (path / MANIFEST).is_file():
        raise WorldError(
            "there is no world",
            where=name,
            mend="Name a world's folder, or one that 'heldout ingest KIND PATH --into NAME' made",
        )
    return World(path)


def ingest(asked: Ingest, options: ImportOptions, project: Path | None = None) -> str:
    """Read material and, with ``into``, write the world; what to tell.

    An existing world is read first and written anew as a whole; an import that fails leaves it as
    it was.
    """
    from heldout.ingest.archives import is_archive
    from heldout.ingest.cases.case import case_importers
    from heldout.ingest.draft import WorldDraft
    from heldout.ingest.images import join_images
    from heldout.ingest.importer import importer

    if not asked.path.exists():
        raise IngestError("nothing is there", where=str(asked.path), mend="Name a file or a folder")
    if is_archive(asked.path):
        return _ingest_archive(asked, options, project)
    if asked.kind in case_importers():
        return _ingest_cases(asked, options, project)
    if asked.into_set:
        raise UsageError(
            f"'{asked.kind[:40]}' makes a world and no incidents",
            mend=f"Say --into WORLD; incidents come from: {', '.join(case_importers())}",
        )
    one = importer(asked.kind)
    directory = world_dir(asked.into, project) if asked.into else None
    base = directory if directory is not None and (directory / MANIFEST).is_file() else None
    name = directory.name if directory is not None else asked.path.resolve().name
    with WorldDraft(name=name, base=base) as draft:
        one.read_into(asked.path, draft, options)
        join_images(draft)
        draft.report.redacted = draft.redactor.count
        if options.strict:
            draft.report.require_whole()
        digest = draft.write(directory, now=options.now) if directory is not None else ""
        plain = draft.report.plain() | {"world": str(directory or ""), "digest": digest}
        lines = draft.report.lines()
    if asked.as_json:
        return json.dumps(plain, indent=1)
    if directory is None:
        return "\n".join([*lines, "Nothing was written; --into WORLD keeps it as a world"])
    what = "added to" if base is not None else "written as"
    return "\n".join([*lines, f"{what} world {directory} ({digest[:12]})"])


def _ingest_archive(asked: Ingest, options: ImportOptions, project: Path | None) -> str:
    """An archive as the folder that it unpacks to; what of it was no file is told."""
    from heldout.ingest.archives import unpacked

    with unpacked(asked.path) as (folder, others):
        note = f"{others} entries of the archive are links, locked or no files, and were left out"
        if others and options.strict:
            raise IngestError(
                note, where=str(asked.path), mend="Nothing was written; leave out --strict"
            )
        told = ingest(replace(asked, path=folder), options, project)
    if asked.as_json:
        return json.dumps(json.loads(told) | {"archive_left_out": others}, indent=1)
    return f"{note}\n{told}" if others else told


def _ingest_cases(asked: Ingest, options: ImportOptions, project: Path | None) -> str:
    """Recorded incidents into a set of the project; what to tell."""
    from heldout.build.recorded import record_set
    from heldout.ingest.cases.case import case_importer
    from heldout.split import HeldoutAccess, declare_process

    if asked.into or not asked.into_set:
        raise UsageError(
            f"'{asked.kind}' holds incidents, which are kept as a set",
            mend="Say --into-set SET instead of --into",
        )
    declare_process("build")
    settings = load_settings(project)
    done = record_set(
        settings, asked.into_set, case_importer(asked.kind), asked.path, options, HeldoutAccess()
    )
    if asked.as_json:
        plain = {name: getattr(done, name) for name in ("name", "train", "test", "kinds")}
        skipped = [{"case": one.key, "reason": one.reason} for one in done.skipped]
        return json.dumps(plain | {"skipped": skipped, "redacted": done.redacted}, indent=1)
    score = f"heldout score --set {done.name} --before BRAIN --after BRAIN"
    return "\n".join([*done.lines(), f"next: {score}"])


def moment_of(text: str) -> int | None:
    """A moment in microseconds, None for an empty text; any other is a :class:`UsageError`."""
    if not text:
        return None
    from heldout.ingest.moments import moment

    found = moment(text)
    if found is None:
        raise UsageError(
            f"'{text[:40]}' is no moment", where="--now", mend="Write it as 2026-03-04T12:00:00Z"
        )
    return found
