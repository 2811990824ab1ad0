"""Making and freezing a set: pool, split by group, names of a side, validity, files."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from heldout.build.pool import SetPlan, drafts, reseeded
from heldout.build.splitting import split_by_group
from heldout.build.validity import Subject, findings
from heldout.build.worlds import make, mapped, materialise, store
from heldout.errors import HeldoutError, SpecError
from heldout.graph import write_world
from heldout.settings import Settings
from heldout.simulate import GENERATOR, Generated, generate
from heldout.split import HeldoutAccess, Side, Split, read_specs, read_split, write_split
from heldout.truth import Spec, truth_digest, write_spec

ATTEMPTS = 12
"""How many seeds a draft may try before the set is given up."""


@dataclass(slots=True)
class SetReport:
    """What making a set came to: how many stand on each side, what was discarded and why."""

    name: str
    sides: Mapping[str, int]
    discards: Counter[str] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """For people."""
        said = [f"{self.name}: train {self.sides['train']}, test {self.sides['test']}"]
        said += [f"  discarded {count} x {why}" for why, count in self.discards.most_common()]
        return said


class _Task(NamedTuple):
    """One draft to turn into a valid incident, as a worker process gets it."""

    settings: Settings
    plan: SetPlan
    draft: Spec
    number: int
    side: int


class _Valid(NamedTuple):
    """A valid, pinned incident and why its predecessors were discarded."""

    spec: Spec
    alert: str
    discards: tuple[str, ...]


def make_set(
    settings: Settings, plan: SetPlan, *, replace_existing: bool = False, workers: int = 1
) -> SetReport:
    """Make a set from scratch and freeze it; worlds and truths go to the cache.

    Drafts are split by group first, because names come from the side's own half of the stock; each
    is then validated with its twins, and tried with another seed when a point of the gate finds
    something. An existing set is refused unless ``replace_existing``.
    """
    directory = settings.set_path(plan.name)
    if (directory / "split.toml").exists() and not replace_existing:
        raise SpecError(
            f"the set '{plan.name}' is frozen",
            where=str(directory),
            mend="Append to it, or name another set",
        )
    pool = drafts(plan)
    sides = split_by_group(pool, plan.seed)
    tasks = [
        _Task(settings, plan, draft, number, sides[draft.group])
        for number, draft in enumerate(pool)
    ]
    discards: Counter[str] = Counter()
    ids: dict[int, list[str]] = {0: [], 1: []}
    for task, valid in zip(tasks, mapped(_valid, tasks, workers), strict=True):
        freeze_incident(directory, valid.spec, valid.alert)
        ids[task.side].append(valid.spec.id)
        discards.update(valid.discards)
    write_split(Split(plan.name, tuple(ids[0]), tuple(ids[1])), directory)
    return SetReport(plan.name, {"train": len(ids[0]), "test": len(ids[1])}, discards)


def _valid(task: _Task) -> _Valid:
    plan, draft = task.plan, task.draft
    discards: list[str] = []
    for attempt in range(ATTEMPTS):
        spec = reseeded(draft, plan, f"draft/{task.number}", attempt)
        spec = replace(spec, knobs={**spec.knobs, "bank": task.side})
        try:
            made = generate(spec)
        except SpecError as error:
            discards.append(error.what.split(":")[0])
            continue
        wrong = findings(Subject(spec, made))
        if not wrong:
            pinned = store_incident(task.settings, spec, made)
            return _Valid(pinned, made.alert, tuple(discards))
        discards.append(wrong[0])
    raise SpecError(
        f"no valid world in {ATTEMPTS} attempts for fault '{draft.fault}' with traps "
        f"{', '.join(draft.traps)}",
        where=f"set {plan.name}",
        mend=f"Loosen its knobs; the last reasons: {'; '.join(discards[-2:])}",
    )


def store_incident(settings: Settings, spec: Spec, made: Generated) -> Spec:
    """Put a world and its truth into the cache; return the spec with their digests."""
    stage = settings.worlds / f".{spec.id}.new"
    digest = write_world(made.tables, stage)
    final = settings.worlds / digest
    if final.exists():
        shutil.rmtree(stage)
    else:
        stage.rename(final)
    pinned = replace(spec, world_digest=digest, truth_digest=truth_digest(made.truth))
    store(made, pinned, settings.worlds, settings.truths)
    return pinned


def freeze_incident(directory: Path, spec: Spec, alert: str) -> None:
    """Write the spec and the alert of one incident to its set."""
    write_spec(spec, directory / "specs" / f"{spec.id}.toml")
    path = directory / "alerts" / f"{spec.id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(alert, encoding="utf-8")


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
    return sorted(path.parent.name for path in settings.datasets.glob("*/split.toml"))


def build_everything(
    settings: Settings, set_name: str | None = None, *, workers: int = 2, validate: bool = False
) -> str:
    """Make what is missing of one set or all, verify every digest, and say so in lines.

    The process must hold role ``build``. With ``validate`` the points of the validity gate run too;
    an invalid incident is a :class:`SpecError`.
    """
    access = HeldoutAccess()
    names = [set_name] if set_name else known_sets(settings)
    lines, total = [], 0
    for name in names:
        directory = settings.set_dir(name)
        split = read_split(directory)
        specs = _all_specs(directory, access)
        made = materialise(settings, specs, directory, workers=workers)
        total += len(specs)
        lines.append(
            f"{name}: train {len(split.train)}, test {len(split.test)}, made {made}, "
            f"verified {len(specs)}"
        )
        if validate:
            lines += validated(specs, directory)
    lines.append(f"{total} valid incidents")
    return "\n".join(lines)


def validated(specs: Sequence[Spec], directory: Path) -> list[str]:
    """Run the validity gate over the specs of a set; a finding is a :class:`SpecError`.

    Recorded incidents have no twins and are passed over.
    """
    wrong: list[str] = []
    checked = [spec for spec in specs if spec.origin != "recorded"]
    for spec in checked:
        try:
            found = findings(Subject(spec, make(spec, directory)))
            wrong += [f"{spec.id} {one}" for one in found]
        except HeldoutError as error:
            wrong.append(f"{spec.id} {error}")
    if wrong:
        raise SpecError(
            f"{len(wrong)} findings of the validity gate, the first: {wrong[0]}",
            where="validity",
            mend="Discard the incident or make it anew",
        )
    return [f"  validated {len(checked)} with their twins"]
