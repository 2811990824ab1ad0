"""The sets there are: making what is missing of them, verifying, validating, pinning anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from heldout.build.freezing import freeze_incident, store_incident
from heldout.build.records import read_record
from heldout.build.repairs import make_repair_set
from heldout.build.validity import validate_set
from heldout.build.worlds import make, materialise
from heldout.environments import REPAIR
from heldout.settings import Settings
from heldout.simulate import GENERATOR
from heldout.split import HeldoutAccess, Side, read_specs, read_split
from heldout.truth import Spec


def rehash(settings: Settings, set_name: str, access: HeldoutAccess) -> int:
    """Pin every spec of a set anew to what this generator makes; return how many changed.

    That makes another data set under the same name: results before and after do not compare.
    """
    directory = settings.set_dir(set_name)
    changed = 0
    for spec in _all_specs(directory, access):
        made = make(spec, directory)
        pinned = store_incident(settings, replace(spec, generator=GENERATOR), made)
        if pinned != spec:
            changed += 1
            freeze_incident(directory, pinned, made.alert)
    return changed


def _all_specs(directory: Path, access: HeldoutAccess) -> list[Spec]:
    sides: tuple[Side, ...] = ("train", "test")
    return [spec for side in sides for spec in read_specs(directory, side, access)]


def known_sets(settings: Settings) -> list[str]:
    """The frozen sets of a project, by name."""
    return [path.name for path in settings.set_folders() if (path / "split.toml").is_file()]


@dataclass(slots=True)
class Built:
    """What building came to, in lines; the last says how many incidents are valid.

    ``findings`` are what the validity gate has against some of them.
    """

    lines: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def build_everything(
    settings: Settings, set_name: str | None = None, *, workers: int = 2, validate: bool = False
) -> Built:
    """Make what is missing of one set or all, verify every digest, and say so in lines.

    The process must hold role ``build``. With ``validate`` the points of the validity gate run too.
    """
    access = HeldoutAccess()
    built, total = Built(), 0
    if set_name == REPAIR:
        make_repair_set(settings, access)
    for name in [set_name] if set_name else known_sets(settings):
        directory = settings.set_dir(name)
        split = read_split(directory)
        specs = _all_specs(directory, access)
        made = materialise(settings, specs, directory, workers=workers)
        built.lines.append(
            f"{name}: train {len(split.train)}, test {len(split.test)}, made {made}, "
            f"verified {len(specs)}"
        )
        if not validate:
            total += len(specs)
            continue
        record = read_record(directory)
        report = validate_set(
            specs, directory, workers, worlds=settings.worlds,
            discards=record.discards if record else None,
        )  # fmt: skip
        built.lines += report.lines()[:-1]
        built.findings += report.findings
        total += report.valid
    built.lines.append(f"{total} valid incidents")
    return built
