"""A set of recorded incidents: worlds read instead of drawn, frozen like any other set."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from heldout.build.freezing import Frozen, forget, staged_set
from heldout.build.worlds import place_of, read_alert
from heldout.errors import IngestError, SpecError
from heldout.ingest.cases.case import CaseImporter, Recorded, Skipped
from heldout.ingest.importer import ImportOptions
from heldout.settings import Settings
from heldout.split import HeldoutAccess, Side, Split, read_specs, read_split
from heldout.truth import Spec, truth_digest, write_truth
from heldout.truth.specs import MATERIAL

GENERATOR = "recorded"
HALVES = "split"
SIDES: tuple[Side, Side] = ("train", "test")


@dataclass(slots=True)
class RecordedSet:
    """What became of an import: its incidents by side, and the cases that became none."""

    name: str
    train: int = 0
    test: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    redacted: int = 0
    restored: bool = False
    material: str = MATERIAL["recorded"]

    @property
    def incidents(self) -> int:
        """All of them."""
        return self.train + self.test

    def lines(self) -> list[str]:
        """For people."""
        total = self.incidents + len(self.skipped)
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        found = [
            f"{self.incidents} of {total} cases became incidents: {kinds}",
            f"set {self.name}: {self.train} train, {self.test} held out, class {self.material}",
        ]
        if self.redacted:
            found.append(f"{self.redacted} secret values replaced")
        found += [f"{one.key}: {one.reason}" for one in self.skipped]
        if self.restored:
            found.append("the set was there already, the same in every digest")
        return found


def record_set(
    settings: Settings,
    name: str,
    importer: CaseImporter,
    path: Path,
    options: ImportOptions,
    access: HeldoutAccess,
) -> RecordedSet:
    """Read every case at ``path`` into worlds and freeze them as the imported set ``name``.

    Held out as a whole, unless the importer's cases can be halved by cause. The same material makes
    the same set, so that importing it again puts back worlds that are gone. A set of that name that
    holds anything else, and one of the project's own, is a :class:`SpecError`; with ``strict`` a
    case that became no incident is an :class:`IngestError`. Then nothing is kept.
    """
    directory = _place(settings, name)
    report = RecordedSet(name, material=MATERIAL[importer.origin])
    made: list[Frozen] = []
    with _undone(settings, made, _standing(directory, access)):
        for case in importer.cases(path, options):
            if isinstance(case, Skipped):
                report.skipped.append(case)
                continue
            made.append(_keep(settings, importer, case, report))
        if not made:
            raise IngestError(
                "no case could be read",
                where=str(path),
                mend=report.skipped[0].reason if report.skipped else f"Name {importer.reads}",
            )
        if options.strict and report.skipped:
            first = report.skipped[0]
            raise IngestError(
                f"{len(report.skipped)} cases became no incident, {first.key}: {first.reason}",
                mend="Nothing was written; leave out --strict to import the rest",
            )
        split = _split(name, made, halves=importer.halves)
        report.train, report.test = len(split.train), len(split.test)
        report.restored = _is_there(directory, split, made, access)
        if not report.restored:
            with staged_set(settings, directory, split, made):
                pass
    return report


def _place(settings: Settings, name: str) -> Path:
    own = settings.set_path(name)
    if own.parent == settings.datasets and own.is_dir():
        raise SpecError(
            f"the project has a set '{name}' of its own", where=str(own), mend="Name another set"
        )
    return settings.imported_sets / name


def _standing(directory: Path, access: HeldoutAccess) -> list[Spec]:
    if not (directory / "split.toml").is_file():
        return []
    return [spec for side in SIDES for spec in read_specs(directory, side, access)]


@contextmanager
def _undone(settings: Settings, made: list[Frozen], standing: list[Spec]) -> Iterator[None]:
    """Take out of the cache again what an import put there that did not come to its end."""
    try:
        yield
    except BaseException:
        forget(settings, [one.spec for one in made], standing)
        raise


def _keep(
    settings: Settings, importer: CaseImporter, case: Recorded, report: RecordedSet
) -> Frozen:
    """Put the world and the truth of a case into the cache."""
    mark = hashlib.sha256(f"{importer.name}\x1f{case.key}".encode()).hexdigest()
    one = f"inc-{mark[:8]}"
    truth = replace(case.truth, incident=one, canary=mark[-32:])
    stage = settings.worlds / f".{one}.new"
    shutil.rmtree(stage, ignore_errors=True)
    with case.draft as draft:
        try:
            digest = draft.write(stage, now=case.now)
            report.redacted += draft.redactor.count
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
    spec = Spec(
        id=one, kind=case.kind, domain=case.domain, family=case.family, fault=case.family,
        traps=(), group=case.group, generator=GENERATOR, seed=0, canary=truth.canary,
        origin=importer.origin, source=f"{importer.source}: {case.key}", world_digest=digest,
        truth_digest=truth_digest(truth),
    )  # fmt: skip
    place = place_of(settings, spec)
    if place.world.is_dir():
        shutil.rmtree(stage)
    else:
        stage.rename(place.world)
    write_truth(truth, place.truth)
    report.kinds[case.kind] = report.kinds.get(case.kind, 0) + 1
    return Frozen(spec, case.alert)


def _split(name: str, made: list[Frozen], *, halves: bool) -> Split:
    """All held out, or whole groups onto two sides of about one size, the same ones every time."""
    sides: dict[Side, list[str]] = {"train": [], "test": []}
    groups: dict[str, list[str]] = {}
    for one in made:
        groups.setdefault(one.spec.group, []).append(one.spec.id)
    ranked = sorted(groups, key=lambda group: (-len(groups[group]), _drawn(name, group)))
    for group in ranked:
        smaller: Side = "train" if len(sides["train"]) <= len(sides["test"]) else "test"
        sides[smaller if halves else "test"] += groups[group]
    return Split(name, tuple(sorted(sides["train"])), tuple(sorted(sides["test"])))


def _drawn(name: str, group: str) -> str:
    return hashlib.sha256(f"{HALVES}\x1f{name}\x1f{group}".encode()).hexdigest()


def _is_there(directory: Path, split: Split, made: list[Frozen], access: HeldoutAccess) -> bool:
    """Whether the set stands there already, the same; another one is a :class:`SpecError`."""
    if not (directory / "split.toml").is_file():
        return False
    held = {spec.id: spec for spec in _standing(directory, access)}
    same = read_split(directory).lock() == split.lock() and all(
        held[one.spec.id] == one.spec and read_alert(directory, one.spec.id) == one.alert
        for one in made
    )
    if not same:
        raise SpecError(
            f"the imported set '{directory.name}' holds something else",
            where=str(directory),
            mend="Name another set; results on this one would not compare any more",
        )
    return True
