"""Putting incidents on disk: worlds and truths into the cache, recipes and alerts into a set."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from heldout.build.worlds import place_of, store
from heldout.errors import SpecError
from heldout.graph import write_world
from heldout.settings import Settings
from heldout.simulate import Generated
from heldout.split import Split, write_split
from heldout.truth import Spec, truth_digest, write_spec

SPLIT = "split.toml"
OURS = ("specs", "alerts", "topologies", "pool.toml", "labels.toml")
"""What making a set writes before its split; all else in its folder is somebody's and stays."""


class Frozen(NamedTuple):
    """One incident as a set keeps it."""

    spec: Spec
    alert: str


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


def forget(settings: Settings, specs: Iterable[Spec], keep: Iterable[Spec] = ()) -> None:
    """Take worlds and truths out of the cache again, except those that ``keep`` needs too."""
    held = [place_of(settings, spec) for spec in keep]
    worlds, truths = {place.world for place in held}, {place.truth for place in held}
    for spec in specs:
        place = place_of(settings, spec)
        if place.world not in worlds:
            shutil.rmtree(place.world, ignore_errors=True)
        if place.truth not in truths:
            place.truth.unlink(missing_ok=True)


def freeze_incident(directory: Path, spec: Spec, alert: str) -> None:
    """Write the spec and the alert of one incident to its set."""
    write_spec(spec, directory / "specs" / f"{spec.id}.toml")
    path = directory / "alerts" / f"{spec.id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(alert, encoding="utf-8")


def refuse_frozen(directory: Path) -> None:
    """Raise :class:`SpecError` where a set is frozen already."""
    if (directory / SPLIT).exists():
        raise SpecError(
            f"the set '{directory.name}' is frozen",
            where=str(directory),
            mend="Append to it, or name another set",
        )


@contextmanager
def staged_set(
    settings: Settings, directory: Path, split: Split, incidents: Sequence[Frozen]
) -> Iterator[Path]:
    """Freeze a whole set: it is written aside, and moved into place when the block ends.

    The block may add files of its own to the folder that it gets. A process that dies before its
    end leaves nothing in ``directory``. What somebody else put there (a README) is kept; a set made
    earlier is replaced, and is no set from the first moment of that to the last.
    """
    stage = settings.state / "making" / directory.name
    shutil.rmtree(stage, ignore_errors=True)
    for spec, alert in incidents:
        freeze_incident(stage, spec, alert)
    write_split(split, stage)
    yield stage
    directory.parent.mkdir(parents=True, exist_ok=True)
    if not directory.exists():
        shutil.move(stage, directory)
        return
    (directory / SPLIT).unlink(missing_ok=True)
    for name in (*OURS, SPLIT):
        old, new = directory / name, stage / name
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
        if new.exists():
            shutil.move(new, old)
    shutil.rmtree(stage)
