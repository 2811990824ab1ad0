"""Worlds and truths on disk: made from their spec when missing, verified against its digests."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

from heldout.build.topologies import read_topology, topology_path
from heldout.environments import REPAIR
from heldout.errors import HeldoutError, SpecError, UsageError, WorldError
from heldout.graph import verify_world, write_world
from heldout.graph.collection import uncollected
from heldout.incident import Incident
from heldout.settings import Settings
from heldout.simulate import GENERATOR, Generated, generate, graft
from heldout.split import Case, HeldoutAccess, Side, read_specs, read_split
from heldout.truth import Spec, read_truth, truth_digest, write_truth


class Place(NamedTuple):
    """Where the world and the truth of one spec belong."""

    world: Path
    truth: Path


def place_of(settings: Settings, spec: Spec) -> Place:
    """The cached paths of a spec, by its digests."""
    return Place(settings.worlds / spec.world_digest, settings.truths / f"{spec.truth_digest}.json")


def cases(
    settings: Settings,
    set_name: str,
    side: Side,
    access: HeldoutAccess | None = None,
    workers: int = 1,
) -> tuple[Case, ...]:
    """The incidents of one side, by id, each with a verified world and truth.

    What is missing is made again from its spec, in ``workers`` processes. The test side needs a
    :class:`HeldoutAccess`. A world or truth that comes out differently is a :class:`WorldError`, a
    retired set a :class:`UsageError`.
    """
    directory = settings.set_dir(set_name)
    if read_split(directory).retired:
        raise UsageError(
            f"the set '{set_name}' is retired",
            where=str(directory / "split.toml"),
            mend="Name another set; a retired one is only kept for the gate",
        )
    specs = read_specs(directory, side, access)
    materialise(settings, specs, directory, workers=workers)
    return tuple(_case(settings, directory, spec, side) for spec in specs)


def _case(settings: Settings, directory: Path, spec: Spec, side: Side) -> Case:
    place = place_of(settings, spec)
    return Case(
        incident=Incident(
            id=spec.id,
            set=directory.name,
            alert=read_alert(directory, spec.id),
            world=place.world,
            digest=spec.world_digest,
        ),
        side=side,
        kind=spec.kind,
        domain=spec.domain,
        family=spec.family,
        traps=spec.traps,
        group=spec.group,
        origin=spec.origin,
        truth_file=place.truth,
        truth_digest=spec.truth_digest,
    )


def read_alert(directory: Path, incident: str) -> str:
    """The alert of one incident of a set."""
    path = directory / "alerts" / f"{incident}.md"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            f"the alert cannot be read ({type(error).__name__})",
            where=str(path),
            mend="Restore it from version control",
        ) from error


class Job(NamedTuple):
    """One world to make, as a worker process gets it."""

    spec: Spec
    worlds: Path
    truths: Path
    directory: Path


def materialise(
    settings: Settings, specs: Sequence[Spec], directory: Path, *, workers: int = 1
) -> int:
    """Make and verify what is missing for specs of the set in ``directory``; return how many."""
    missing = []
    for spec in specs:
        place = place_of(settings, spec)
        if not spec.world_digest or not spec.truth_digest:
            raise SpecError(
                "the spec pins no world",
                where=f"spec {spec.id}",
                mend="Run 'heldout build --rehash' on the set",
            )
        if place.world.is_dir() and place.truth.is_file():
            verify_world(place.world, spec.world_digest)
            read_truth(place.truth, digest=spec.truth_digest)
        else:
            missing.append(spec)
    jobs = [_job(settings, directory, spec) for spec in missing]
    mapped(_make, jobs, workers)
    return len(missing)


T = TypeVar("T")
R = TypeVar("R")


def mapped(
    work: Callable[[T], R],
    tasks: Sequence[T],
    workers: int,
    done: Callable[[int], None] | None = None,
) -> list[R]:
    """``work`` over all tasks, in order, in up to ``workers`` spawned processes.

    ``done`` is told how many results there are whenever one more is.
    """
    if workers <= 1 or len(tasks) <= 1:
        return _collected(map(work, tasks), done)
    with ProcessPoolExecutor(min(workers, len(tasks)), mp_context=get_context("spawn")) as pool:
        return _collected(pool.map(work, tasks), done)


def _collected(results: Iterable[R], done: Callable[[int], None] | None) -> list[R]:
    found: list[R] = []
    for result in results:
        found.append(result)
        if done is not None:
            done(len(found))
    return found


def _job(settings: Settings, directory: Path, spec: Spec) -> Job:
    if not spec.is_drawn:
        raise WorldError(
            f"its world is not in the cache and was recorded from '{spec.source}'",
            where=f"spec {spec.id}",
            mend="Make it again with the 'heldout ingest' or 'reconstruct' that made it",
        )
    return Job(spec, settings.worlds, settings.truths, directory)


def make(spec: Spec, directory: Path) -> Generated:
    """What a spec of the set in ``directory`` makes; an overlay on its kept topology."""
    if spec.generator == REPAIR:
        from heldout.build.repairs import repair_made

        return repair_made(spec)
    if spec.origin == "overlay":
        return graft(read_topology(topology_path(directory, spec.id)), spec)
    return generate(spec)


def _make(job: Job) -> None:
    made = make(job.spec, job.directory)
    if truth_digest(made.truth) != job.spec.truth_digest:
        raise _differs(job.spec, "truth")
    store(made, job.spec, job.worlds, job.truths)


def store(made: Generated, spec: Spec, worlds: Path, truths: Path) -> None:
    """Write a world and truth that must have the spec's digests, whoever else does the same."""
    final = worlds / spec.world_digest
    if not final.is_dir():
        stage = worlds / f".{uuid.uuid4().hex[:12]}.made"
        try:
            with uncollected():
                digest = write_world(made.tables, stage)
            if digest != spec.world_digest:
                raise _differs(spec, "world")
            try:
                stage.rename(final)
            except OSError:
                # Another process made the same world first.
                verify_world(final, spec.world_digest)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    write_truth(made.truth, truths / f"{spec.truth_digest}.json")


def _differs(spec: Spec, what: str) -> HeldoutError:
    note = ""
    if spec.generator != GENERATOR:
        note = f" (the spec was frozen with generator {spec.generator}, this is {GENERATOR})"
    return WorldError(
        f"the generator changed: its {what} differs from the digest in the spec{note}",
        where=f"spec {spec.id}",
        mend="Use the release that froze the set, or freeze it anew with 'heldout build --rehash'",
    )
