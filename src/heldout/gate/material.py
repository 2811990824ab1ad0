"""What the gate knows: every incident of every set, both halves, controls included."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.errors import GateError, HeldoutError
from heldout.graph import read_tables, verify_world
from heldout.settings import Settings
from heldout.split import HeldoutAccess, Side, read_specs
from heldout.truth import Spec, Truth, read_truth

Rows = Callable[[str], list[dict[str, Any]]]
READ: Mapping[str, tuple[str, ...]] = {
    "entity": ("id", "kind", "name", "external_id", "cluster"),
    "change_event": ("id", "actor", "actor_kind", "pr", "repo", "commit", "summary"),
    "change_diff": ("event_id", "field", "old_json", "new_json"),
    "fact": ("field", "value_json"),
    "log_template": ("template",),
    "alert": ("rule",),
}
"""What an inventory reads of a world: columns by table."""

_BUILD = "Run 'heldout build --all'; until then nothing is let through"


@dataclass(frozen=True, slots=True)
class Source:
    """One incident's files. Its world and truth are read only when they are not cached yet."""

    set: str
    spec: Spec
    side: Side
    alert: str
    world: Path
    truth: Path

    @property
    def name(self) -> str:
        """The incident as findings name it: ``set/id``."""
        return f"{self.set}/{self.spec.id}"

    def key(self) -> str:
        """Hash over what the incident says: spec id, digests, canary and alert."""
        spec = self.spec
        parts = (self.name, spec.world_digest, spec.truth_digest, spec.canary, self.alert)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def read_truth(self) -> Truth:
        """The truth, verified against its digest."""
        return read_truth(self.truth, digest=self.spec.truth_digest)

    def rows(self) -> Rows:
        """A reader of the world's tables, after its files are verified against its digest."""
        verify_world(self.world, self.spec.world_digest)
        return all_rows(read_tables(self.world, READ))


def read_sources(settings: Settings, access: HeldoutAccess) -> tuple[Source, ...]:
    """Every incident of every set, imported ones too; whatever is missing is a GateError."""
    sources: list[Source] = []
    for folder in settings.set_folders():
        if not (folder / "split.toml").is_file():
            if any(folder.glob("specs/*.toml")):
                raise GateError(
                    f"the set '{folder.name}' has specs and no split",
                    where=str(folder),
                    mend=_BUILD,
                )
            continue
        try:
            sources += _set_sources(settings, folder, access)
        except GateError:
            raise
        except HeldoutError as error:
            raise GateError(error.what, where=error.where, mend=error.mend) from error
    return tuple(sources)


def _set_sources(settings: Settings, folder: Path, access: HeldoutAccess) -> list[Source]:
    found: list[Source] = []
    sides: tuple[Side, ...] = ("train", "test")
    for side in sides:
        for spec in read_specs(folder, side, access):
            if not spec.world_digest or not spec.truth_digest:
                raise GateError(
                    "a spec names no world or no truth",
                    where=f"{folder.name}/{spec.id}",
                    mend=_BUILD,
                )
            alert = folder / "alerts" / f"{spec.id}.md"
            try:
                text = alert.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise GateError(
                    "an alert cannot be read", where=str(alert), mend="Restore it from git"
                ) from error
            found.append(
                Source(
                    set=folder.name,
                    spec=spec,
                    side=side,
                    alert=text,
                    world=settings.worlds / spec.world_digest,
                    truth=settings.truths / f"{spec.truth_digest}.json",
                )
            )
    return found


def fingerprint(settings: Settings) -> str:
    """A cheap hash over names, sizes and times of every set's files: has anything changed?"""
    digest = hashlib.sha256()
    for folder in (settings.datasets, settings.imported_sets, settings.checkers):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in {".toml", ".md", ".py", ""}:
                stat = path.stat()
                digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def all_rows(tables: Mapping[str, list[dict[str, Any]]]) -> Rows:
    """Rows in memory as a reader; tables that are not given are empty."""
    return lambda table: tables.get(table, [])
